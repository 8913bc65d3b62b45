#include "shards/build/build_request.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

void require_request(bool holds, const std::string& message) {
    if (!holds) throw ConfigError(message);
}

/// Checks --name: shards are called NAME_training_0000.h5 and so on, or like their text with --compatible-with.
void check_names(const ShardBuildSettings& settings) {
    require_request(!settings.name.empty() && settings.name.find('/') == std::string::npos,
                    "--name: must be a non-empty file name prefix without \"/\"");
    require_request(!settings.name.starts_with('.'), "--name: must not begin with \".\", because hidden files are no shards");
    require_request(settings.name.find("training") == std::string::npos,
                    "--name: must not contain \"training\", because that word in a file name marks training shards");
}

/// Checks the settings that only one objective has.
void check_objective(const SampleSettings& samples) {
    const bool packs = !samples.has_labels();
    require_request(packs || !samples.across_documents,
                    "--across-documents: needs --objective mlm, because the next sentence belongs to one document");
    require_request(packs || !samples.best_fit,
                    "--best-fit: needs --objective mlm, because a row for next sentences holds one pair of segments");
    require_request(!samples.best_fit || !samples.across_documents,
                    "--best-fit: cannot be combined with --across-documents, which packs articles in turn");
    require_request(packs || !samples.keep_white_space,
                    "--keep-white-space: needs --objective mlm, because next sentences need texts that are split into sentences");
    require_request(!packs || samples.short_seq_prob == 0,
                    concat("--short-sequence-probability ", samples.short_seq_prob,
                           ": must be 0 with --objective mlm, which fills every row with as many sentences as fit"));
    require_request(!packs || samples.compatible_with == "nothing",
                    concat("--compatible-with ", samples.compatible_with,
                           ": needs --objective mlm_nsp, because the reference scripts make sentence pairs"));
}

void check_spans(const SampleSettings& samples) {
    require_request(samples.mask_span > 1 || samples.mask_span_lengths == SpanLengths::fixed,
                    "--mask-span-lengths: has no effect without --mask-span, which is the length of the longest span");
    require_request(samples.mask_span_lengths != SpanLengths::fixed || samples.mask_span <= samples.max_predictions,
                    concat("--mask-span ", samples.mask_span, ": is longer than the ", samples.max_predictions,
                           " tokens that are masked in a row (--max-predictions)"));
}

void check_reference(const SampleSettings& samples) {
    if (samples.compatible_with == "nothing") return;
    require_request(samples.token_rules == samples.compatible_with,
                    concat("--compatible-with ", samples.compatible_with, " needs --rules ", samples.compatible_with, ", not ",
                           samples.token_rules));
    require_request(samples.compatible_with == "google" || !samples.whole_word_masking,
                    "--whole-word-masking: NVIDIA's script does not support it, Google's does (--compatible-with google)");
    require_request(samples.mask_span == 1, concat("--mask-span ", samples.mask_span,
                                                   ": the reference scripts mask no spans; omit it or ", "--compatible-with"));
}

/// Checks what --keep-white-space does to the ways of reading a text.
void check_reading(const SampleSettings& samples, const InputSettings& reading) {
    if (!samples.keep_white_space) return;
    require_request(reading.lines == "auto" && !reading.sentences.punkt && !reading.sentences.parameters,
                    "--keep-white-space: cannot be combined with --lines, --sentences punkt or --punkt-parameters, because texts "
                    "then stay as they are written");
    require_request(reading.letters != "apart", "--keep-white-space: cannot be combined with --letters apart, which adds spaces");
}

/// A tokenizer that drops white space would give the same ids with the setting and without.
void require_white_space(const Tokenizer& tokenizer, const std::filesystem::path& vocabulary) {
    require_request(tokenizer.encode("a\n    b") != tokenizer.encode("a b"),
                    concat("--keep-white-space: ", vocabulary.string(), " gives text the same tokens with its line ends and ",
                           "indentation as without, so nothing would be kept\n  do: leave the option out, or use a vocabulary ",
                           "that keeps white space, such as a byte-level BPE (vocabulary --model bpe)"));
}

}  // namespace

void check_request(const ShardBuildSettings& settings) {
    const SampleSettings& samples = settings.samples;
    for (const Setting& setting : list_settings(samples)) {
        const auto check_number = [&](auto value) {
            if constexpr (std::is_arithmetic_v<decltype(value)>)
                require_request(setting.rule.holds(static_cast<double>(value)),
                                concat(setting.path, " = ", value, ": must be ", setting.rule.text()));
        };
        std::visit(check_number, setting.value);
    }
    require_request(samples.max_predictions <= samples.sequence_length - 3,
                    concat("max_predictions = ", samples.max_predictions, ": must be at most ", samples.sequence_length - 3,
                           ", the number of tokens that can be masked in a sequence of ", samples.sequence_length));
    if (settings.shards) require_request(*settings.shards >= 1, concat("--shards ", *settings.shards, ": must be at least 1"));
    if (settings.held_out_shards)
        require_request((*settings.held_out_shards > 0) == (samples.held_out_fraction > 0),
                        concat("--held-out-shards ", *settings.held_out_shards, " and --held-out-fraction ",
                               samples.held_out_fraction, " contradict each other: both must be 0, or neither"));
    check_names(settings);
    check_objective(samples);
    check_reading(samples, settings.reading);
    check_spans(samples);
    check_reference(samples);
}

std::int64_t default_max_predictions(const SampleSettings& samples) {
    const double to_mask = samples.masked_lm_prob * static_cast<double>(samples.sequence_length);
    const std::int64_t covering = 4 * static_cast<std::int64_t>(std::ceil(to_mask / 4 - 1e-9));
    return std::clamp<std::int64_t>(covering, 1, std::max<std::int64_t>(1, samples.sequence_length - 3));
}

std::shared_ptr<const Tokenizer> make_tokenizer(const SampleSettings& samples, const std::filesystem::path& vocabulary) {
    const TokenizerKind kind = tokenizer_kind(read_tokenizer_file(vocabulary));
    require_request(samples.compatible_with == "nothing" || kind == TokenizerKind::token_list,
                    concat("--compatible-with ", samples.compatible_with, ": its script needs ",
                           kind_name(TokenizerKind::token_list), ", but ", vocabulary.string(), " is ", kind_name(kind)));
    auto tokenizer = open_tokenizer(vocabulary, samples.casing == "cased" ? Casing::cased : Casing::uncased,
                                    token_rules_named(samples.token_rules));
    tokenizer->vocabulary().require_specials();
    if (samples.keep_white_space) require_white_space(*tokenizer, vocabulary);
    return tokenizer;
}

SampleRules sample_rules(const SampleSettings& settings, const Vocabulary& vocabulary) {
    MaskingSettings masking =
        masking_settings(vocabulary, settings.masked_lm_prob, settings.max_predictions, settings.whole_word_masking);
    masking.spans = settings.mask_spans();
    return {{settings.sequence_length, settings.short_seq_prob, settings.compatible_with == "google"},
            std::move(masking),
            vocabulary.specials(),
            vocabulary.size(),
            settings.seed,
            settings.duplicate_factor,
            settings.has_labels()
                ? std::nullopt
                : std::optional(PackSettings{settings.sequence_length, settings.across_documents, settings.best_fit}),
            vocabulary.has_own_rules() ? vocabulary.specials().pad : 0};
}

}  // namespace bertpretrain
