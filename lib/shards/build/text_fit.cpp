#include "shards/build/text_fit.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/threads.h"
#include "text/formats/kept_lines.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_parts = 32;

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

constexpr std::int64_t specials_of_row = 3;

TextFit fit_of_part(const std::string& text, const Tokenizer& tokenizer, const SampleSettings& samples) {
    const SpecialIds& specials = tokenizer.vocabulary().specials();
    TextFit fit;
    std::vector<std::int32_t> ids;
    const auto add = [&](std::string_view sentence) {
        ids.clear();
        tokenizer.encode(sentence, ids);
        fit.unknown.add(ids, sentence, specials);
        fit.beyond_row += std::max<std::int64_t>(0, std::ssize(ids) - (samples.sequence_length - specials_of_row));
    };
    if (samples.keep_white_space) for_each_kept_text(text, add);
    else for_each_sentence(text, add);
    return fit;
}

}  // namespace

TextFit fit_of(const TextArticles& articles, const Tokenizer& tokenizer, const SampleSettings& samples, std::size_t threads) {
    const std::size_t parts = articles.parts().size(), count = std::min(parts, most_parts);
    std::vector<TextFit> fits(count);
    for_each_index(count, threads, [&](std::size_t i) {
        fits[i] = fit_of_part(articles.read(articles.parts()[i * parts / count]), tokenizer, samples);
    });
    TextFit sum;
    for (const TextFit& fit : fits) {
        sum.unknown.add(fit.unknown);
        sum.beyond_row += fit.beyond_row;
    }
    return sum;
}

void judge(const TextFit& fit, const Vocabulary& vocabulary, const ShardBuildSettings& settings) {
    const double unknown = fit.unknown.share();
    if (unknown > few_unknown || unknown > settings.most_unknown) {
        const std::string found = concat(percent(unknown), " of the text's tokens are [UNK], for example in \"",
                                         fit.unknown.example, "\": ", cause_of_unknown(vocabulary));
        if (unknown > settings.most_unknown)
            throw DataError(
                concat(found, "; --max-unknown ", fixed(std::min(1.0, unknown + 0.01), 2), " makes shards of it all the same"));
        log_warning(found);
    }
    const double cut = fit.unknown.tokens > 0 ? static_cast<double>(fit.beyond_row) / static_cast<double>(fit.unknown.tokens) : 0;
    if (settings.samples.has_labels() && cut > few_unknown)
        log_warning(concat(percent(cut), " of the text's tokens are cut off, because their sentences are longer than a row of ",
                           settings.samples.sequence_length,
                           " tokens\n  do: pass --objective mlm, which divides such sentences, or a larger --sequence-length"));
}

}  // namespace bertpretrain
