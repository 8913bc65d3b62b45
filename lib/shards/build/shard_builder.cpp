#include "shards/build/shard_builder.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/threads.h"
#include "shards/build/build_progress.h"
#include "shards/build/build_request.h"
#include "shards/build/reference_builder.h"
#include "shards/build/sample_group.h"
#include "shards/build/shard_folder.h"
#include "shards/build/shard_plan.h"
#include "shards/build/text_articles.h"
#include "shards/build/text_fit.h"
#include "shards/build/token_spill.h"
#include "text/formats/kept_lines.h"
#include "text/reader/sentence_text.h"

namespace bertpretrain {
namespace {

/// Returns tokenization's approximate share of the total time, for the remaining time shown.
double share_of_tokenization(std::int64_t duplicate_factor) { return 1 / (1 + 0.6 * static_cast<double>(duplicate_factor)); }

/// A part of the text in the spill's format.
struct TokenizedPart {
    std::vector<std::int32_t> words;
    std::vector<std::size_t> ends;  ///< index in `words` after each article
};

/// @param is_wanted whether an article is tokenized; by its index
TokenizedPart tokenize_part(const TextArticles& articles, const TextPart& place, const Tokenizer& tokenizer,
                            const std::function<bool(std::size_t article)>& is_wanted) {
    const std::string text = articles.read(place);
    TokenizedPart part;
    part.words.reserve(text.size() / 3);
    std::optional<ArticleWords> open;
    bool is_in_article = false, wants_it = false;
    std::string spaced;
    const auto close = [&] {
        if (!is_in_article) return;
        is_in_article = false;
        if (open) open->finish();
        open.reset();
        part.ends.push_back(part.words.size());
    };
    for_each_sentence(text, [&](std::string_view sentence) {
        if (sentence.empty()) return close();
        const std::size_t article = place.first_article + part.ends.size();
        const bool follows = is_in_article && tokenizer.keeps_spaces();  // after a sentence, and so after a space
        if (!is_in_article) wants_it = is_wanted(article);
        is_in_article = true;
        if (!wants_it) return;
        if (!open) open.emplace(part.words, static_cast<std::uint32_t>(article));
        open->add_sentence([&](std::vector<std::int32_t>& ids) {
            tokenizer.encode(follows ? std::string_view(spaced.assign(1, ' ').append(sentence)) : sentence, ids);
        });
    });
    close();
    return part;
}

/// The same where white space is kept. An article is then tokenized as one text, because tokens may reach over a line end.
TokenizedPart tokenize_kept_part(const TextArticles& articles, const TextPart& place, const Tokenizer& tokenizer,
                                 const std::function<bool(std::size_t article)>& is_wanted) {
    TokenizedPart part;
    for_each_kept_text(articles.read(place), [&](std::string_view text) {
        const std::size_t article = place.first_article + part.ends.size();
        if (is_wanted(article)) {
            ArticleWords words(part.words, static_cast<std::uint32_t>(article));
            words.add_sentence([&](std::vector<std::int32_t>& ids) { tokenizer.encode(text, ids); });
            words.finish();
        }
        part.ends.push_back(part.words.size());
    });
    return part;
}

/// Tokenizes the articles of the plan's shards into the spill, each into its group.
void tokenize(const TextArticles& articles, const Tokenizer& tokenizer, const ShardPlan& plan, bool keeps_white_space,
              std::size_t threads, TokenSpill& spill, const std::function<void(double bytes)>& advance) {
    const std::vector<std::uint8_t> wanted = plan.wanted_groups();
    const auto is_wanted = [&](std::size_t article) { return wanted[plan.group_of[article]] != 0; };
    const auto produce = [&](std::size_t p) {
        const TextPart& place = articles.parts()[p];
        TokenizedPart part = (keeps_white_space ? tokenize_kept_part : tokenize_part)(articles, place, tokenizer, is_wanted);
        if (part.ends.size() != place.articles)
            throw DataError(concat(articles.file(place).string(), ": was changed while it was being read"));
        return part;
    };
    const auto add = [&](std::size_t p, const TokenizedPart& part) {
        const TextPart& place = articles.parts()[p];
        std::size_t begin = 0;
        for (std::size_t a = 0; a < part.ends.size(); ++a) {
            if (part.ends[a] > begin)
                spill.add(plan.group_of[place.first_article + a], std::span(part.words).subspan(begin, part.ends[a] - begin));
            begin = part.ends[a];
        }
        advance(static_cast<double>(place.bytes));
    };
    for_each_in_order(articles.parts().size(), threads, produce, add);
    spill.finish();
}

/// Shards with one article, of which a warning gives the number and one name. Thread-safe.
class LonelyArticles {
public:
    void add(const std::string& file) {
        const std::lock_guard lock(guard_);
        if (shards_++ == 0 || file < first_) first_ = file;
    }
    void warn(std::size_t shards) const {
        if (shards_ > 0)
            log_warning(concat(shards_, " of ", shards,
                               " shards contain only one article, so they have no random next sentences; the first is ", first_,
                               "\n  do: use fewer --shards or --held-out-shards"));
    }

private:
    std::mutex guard_;
    std::size_t shards_ = 0;
    std::string first_;
};

/// Writes one shard from its groups, with one group in memory at a time.
/// @param advance called with each finished share of the shard's work
void write_shard_of(const ShardPlan::Shard& shard, const TokenSpill& spill, const SampleRules& rules, std::size_t threads,
                    ShardFolder& folder, LonelyArticles& lonely, const std::function<void(double share)>& advance) {
    const auto load = [&](std::uint32_t group) {
        return std::make_unique<SampleGroup>(spill.read(group), rules, group, threads);
    };
    std::unique_ptr<SampleGroup> group;
    std::int64_t rows = 0, tokens = 0;
    std::size_t documents = 0;
    for (std::uint32_t g = 0; g < shard.groups; ++g) {
        group.reset();  // free it before loading the next
        group = load(shard.first_group + g);
        rows += group->size();
        tokens += group->token_count();
        documents += group->documents();
    }
    if (rows == 0) throw DataError(concat(shard.file, ": its articles contain no tokens; use fewer --shards"));
    if (documents == 1 && !rules.packs) lonely.add(shard.file);
    folder.write(shard.file, rows, tokens, threads, [&](const ShardFolder::Append& append) {
        for (std::uint32_t g = 0; g < shard.groups; ++g) {
            if (shard.groups > 1) {
                group.reset();
                group = load(shard.first_group + g);
            }
            append(group->size(), [&](std::int64_t first, std::int64_t count) {
                advance(static_cast<double>(count) / static_cast<double>(rows));
                return group->rows(first, count);
            });
        }
    });
}

/// Writes as many shards in parallel as there are threads. In a last round with fewer shards, they share the idle threads.
void write_shards(const ShardPlan& plan, const TokenSpill& spill, const SampleRules& rules, std::size_t threads,
                  ShardFolder& folder, const std::function<void(double share)>& advance) {
    const std::size_t shards = plan.shards.size(), at_once = std::min(threads, shards), in_last_round = shards % at_once;
    const auto threads_of = [&](std::size_t shard) {
        const std::size_t beside = shard < shards - in_last_round ? at_once : in_last_round;
        return (threads + beside - 1) / beside;
    };
    LonelyArticles lonely;
    for_each_index(shards, at_once, [&](std::size_t s) {
        write_shard_of(plan.shards[s], spill, rules, threads_of(s), folder, lonely,
                       [&](double share) { advance(share / static_cast<double>(shards)); });
    });
    lonely.warn(shards);
}

InputSettings reading_of(const ShardBuildSettings& settings, const Tokenizer& tokenizer) {
    InputSettings reading = settings.reading;
    reading.warns_of_indentation = tokenizer.keeps_spaces() && !settings.samples.keep_white_space;
    if (settings.samples.keep_white_space) {
        reading.lines = "kept";
        reading.sentences.none = true;
    }
    return reading;
}

/// Removes the output folder of a build that ends before it has written anything, if the build has created it.
class NewFolder {
public:
    explicit NewFolder(std::filesystem::path folder) : folder_(std::move(folder)), is_new_(!std::filesystem::exists(folder_)) {}
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;
    ~NewFolder() {
        std::error_code not_empty;
        if (is_new_) std::filesystem::remove(folder_, not_empty);
    }

private:
    std::filesystem::path folder_;
    bool is_new_;
};

}  // namespace

ShardBuildReport build_shards(const ShardBuildSettings& settings) {
    check_request(settings);
    const auto tokenizer = make_tokenizer(settings.samples, settings.vocabulary);
    const Vocabulary& vocabulary = tokenizer->vocabulary();
    if (settings.samples.compatible_with != "nothing") return build_reference_shards(settings, *tokenizer);
    const std::size_t threads = settings.threads > 0 ? settings.threads : available_cores();
    BuildProgress progress;
    check_empty(settings.output, settings.overwrite);  // before a long extraction
    const NewFolder new_folder(settings.output);
    const SentenceText text(settings.texts, reading_of(settings, *tokenizer), threads, settings.output);
    const TextArticles articles(text.files());
    judge(fit_of(articles, *tokenizer, settings.samples, threads), vocabulary, settings);
    ShardPlan plan = plan_shards(settings, articles, threads);
    const std::size_t all_shards = plan.shards.size();
    if (static_cast<std::size_t>(settings.part.count) > all_shards)
        throw ConfigError(
            concat("--part ", settings.part.text(), ": there are only ", all_shards,
                   " shards, expected as many as parts\n  do: use fewer parts, or more --shards and --held-out-shards"));
    ShardFolder folder(
        settings.output,
        {settings.samples, settings.vocabulary, plan.files(), settings.overwrite, settings.part, articles.digests()}, vocabulary);
    const std::vector<std::string> own = settings.part.files_of(plan.files());
    plan.keep([&](const std::string& file) { return std::ranges::count(own, file) > 0 && !folder.has(file); });
    const double left = static_cast<double>(plan.shards.size()) / static_cast<double>(all_shards);
    progress.begin(static_cast<std::uint64_t>(static_cast<double>(articles.total_bytes()) * left));
    log_info(concat(with_thousands(static_cast<std::int64_t>(articles.size())), " articles, ", bytes_text(articles.total_bytes()),
                    " of text, into ", all_shards, all_shards == 1 ? " shard" : " shards",
                    plan.shards.size() < all_shards ? concat(", of which ", plan.shards.size(), " are made now") : ""));
    if (!plan.shards.empty()) {
        TokenSpill spill(settings.output, plan.groups);
        const double tokenization = share_of_tokenization(settings.samples.duplicate_factor);
        tokenize(articles, *tokenizer, plan, settings.samples.keep_white_space, threads, spill,
                 [&](double bytes) { progress.advance(bytes * left * tokenization); });
        write_shards(plan, spill, sample_rules(settings.samples, vocabulary), threads, folder,
                     [&](double share) { progress.advance(share * (1 - tokenization) * progress.total()); });
    }
    const std::vector<FileDigest>& corpus = text.extracted_from().empty() ? articles.digests() : text.extracted_from();
    return {folder.finish(corpus), articles.size(), articles.total_bytes(), progress.seconds()};
}

}  // namespace bertpretrain
