#include "shards/shard_builder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/strings.h"
#include "core/threads.h"
#include "shards/article_split.h"
#include "shards/entropy.h"
#include "shards/sample.h"
#include "shards/shard_writer.h"
#include "shards/text_articles.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double seconds_between_lines = 10;
constexpr const char* vocabulary_name = "vocab.txt";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void require(bool holds, const std::string& message) {
    if (!holds) throw ConfigError(message);
}

void check_settings(const ShardBuildSettings& settings) {
    const SampleSettings& samples = settings.samples;
    for (const Setting& setting : list_settings(samples)) {
        const auto check_number = [&](auto value) {
            if constexpr (std::is_arithmetic_v<decltype(value)>)
                require(setting.rule.holds(static_cast<double>(value)),
                        concat(setting.path, " = ", value, ": must be ", setting.rule.text()));
        };
        std::visit(check_number, setting.value);
    }
    require(samples.max_predictions <= samples.sequence_length - 3,
            concat("max_predictions = ", samples.max_predictions, ": must be at most ", samples.sequence_length - 3,
                   ", the tokens of a sequence of ", samples.sequence_length, " that can be masked"));
    require(settings.shards >= 1, concat("--shards ", settings.shards, ": must be at least 1"));
    if (settings.held_out_shards)
        require((*settings.held_out_shards > 0) == (samples.held_out_fraction > 0),
                concat("--held-out-shards ", *settings.held_out_shards, " and --held-out-fraction ", samples.held_out_fraction,
                       " contradict each other: both must be 0, or neither"));
    require(!settings.name.empty() && settings.name.find('/') == std::string::npos,
            "--name: must be the beginning of a file name");
    require(settings.name.find("training") == std::string::npos,
            "--name: must not contain \"training\", by which readers tell training shards from held-out ones");
}

/// Refuses a folder in use, or empties it of its old manifest and shards, in this order: a folder with a manifest is complete.
void prepare_folder(const ShardBuildSettings& settings) {
    make_writable_folder(settings.output);
    const fs::path vocabulary = settings.output / vocabulary_name;
    require(settings.overwrite || !fs::exists(vocabulary) || read_file(vocabulary) == read_file(settings.vocabulary),
            concat(vocabulary.string(), ": is another vocabulary than ", settings.vocabulary.string(),
                   "\n  do: choose another --output, or give --overwrite to replace it"));
    std::vector<fs::path> old_files = list_files(settings.output, {".h5", ".hdf5"});
    std::erase_if(old_files, [](const fs::path& file) { return !shard_kind(file); });
    if (fs::exists(settings.output / manifest_name)) old_files.insert(old_files.begin(), settings.output / manifest_name);
    if (old_files.empty()) return;
    require(settings.overwrite, concat(settings.output.string(), ": already holds ", old_files.front().filename().string(),
                                       old_files.size() > 1 ? concat(" and ", old_files.size() - 1, " more") : "",
                                       "\n  do: choose another --output, or give --overwrite to replace what is there"));
    for (const fs::path& file : old_files) {
        std::error_code failure;
        fs::remove(file, failure);
        require(!failure, concat(file.string(), ": cannot be removed (", failure.message(), ")"));
    }
}

/// Builds one shard after the other, each on all threads.
class Builder {
public:
    Builder(const ShardBuildSettings& settings, const TextArticles& articles, std::shared_ptr<const Vocabulary> vocabulary)
        : settings_(settings),
          articles_(articles),
          tokenizer_(vocabulary, settings.samples.casing == "cased" ? Casing::cased : Casing::uncased,
                     token_rules_named(settings.samples.token_rules)),
          threads_(settings.threads > 0 ? settings.threads : available_cores()),
          label_counts_(static_cast<std::size_t>(vocabulary->size())) {
        const SampleSettings& samples = settings.samples;
        rules_ = {{samples.sequence_length, samples.short_seq_prob},
                  {samples.masked_lm_prob, samples.max_predictions,
                   samples.whole_word_masking ? continuations_of(*vocabulary) : std::vector<std::uint8_t>{}},
                  vocabulary->specials(),
                  vocabulary->size(),
                  samples.seed,
                  samples.duplicate_factor};
    }

    /// @param number of the shard among all; its rows' order hangs on it
    ShardRecord build(const std::string& file, const std::vector<std::size_t>& articles, std::uint64_t number, ShardKind kind) {
        std::vector<std::size_t> kept;
        const std::vector<Document> documents = tokenize(articles, kept);
        std::vector<std::vector<Sample>> samples(documents.size());
        for_each_index(documents.size(), threads_,
                       [&](std::size_t d) { samples[d] = make_samples(documents, d, kept[d], rules_); });
        std::vector<const Sample*> order;
        for (const auto& of_document : samples)
            for (const Sample& sample : of_document) order.push_back(&sample);
        if (order.empty())
            throw DataError(concat(file, ": its ", articles.size(), " articles hold no token; use fewer --shards"));
        if (documents.size() == 1)
            log_warning(concat(file, ": holds one article, so no random next sentences; use fewer --shards"));
        RandomSequence(settings_.samples.seed, Purpose::document_order, number).shuffle(order);
        const fs::path path = settings_.output / file;
        const auto rows_of = [&](std::int64_t first, std::int64_t count) {
            return to_rows(std::span(order).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                           settings_.samples.sequence_length, settings_.samples.max_predictions);
        };
        const auto rows = static_cast<std::int64_t>(order.size());
        write_shard(path, {rows, settings_.samples.sequence_length, settings_.samples.max_predictions}, rows_of, threads_);
        return record(path, order, kind);
    }

    double unigram_cross_entropy() const { return entropy_of_counts(label_counts_); }

private:
    /// @param kept the numbers of the articles that have a token, in step with the result
    std::vector<Document> tokenize(const std::vector<std::size_t>& articles, std::vector<std::size_t>& kept) const {
        std::vector<Document> all(articles.size()), documents;
        for_each_index(articles.size(), threads_, [&](std::size_t a) {
            for (const std::string& sentence : articles_.sentences(articles[a]))
                if (Sentence ids = tokenizer_.encode(sentence); !ids.empty()) all[a].push_back(std::move(ids));
        });
        for (std::size_t a = 0; a < all.size(); ++a) {
            if (all[a].empty()) continue;
            documents.push_back(std::move(all[a]));
            kept.push_back(articles[a]);
        }
        return documents;
    }

    ShardRecord record(const fs::path& path, const std::vector<const Sample*>& samples, ShardKind kind) {
        ShardRecord shard{path.filename().string(),
                          static_cast<std::int64_t>(samples.size()),
                          0,
                          0,
                          static_cast<std::int64_t>(fs::file_size(path)),
                          crc32_of_file(path)};
        for (const Sample* sample : samples) {
            shard.tokens += static_cast<std::int64_t>(sample->pair.tokens.size());
            shard.masked += static_cast<std::int64_t>(sample->masked.positions.size());
            if (kind == ShardKind::training)
                for (const std::int32_t label : sample->masked.labels) ++label_counts_[static_cast<std::size_t>(label)];
        }
        return shard;
    }

    const ShardBuildSettings& settings_;
    const TextArticles& articles_;
    WordPiece tokenizer_;
    std::size_t threads_;
    SampleRules rules_;
    std::vector<std::int64_t> label_counts_;  // of the training shards' masked tokens
};

std::string shard_name(const ShardBuildSettings& settings, ShardKind kind, std::size_t number) {
    std::string digits = std::to_string(number);
    const std::size_t width = std::max<std::size_t>(4, std::to_string(settings.shards).size());
    digits.insert(0, digits.size() < width ? width - digits.size() : 0, '0');
    return settings.name + (kind == ShardKind::training ? "_training_" : "_test_") + digits + ".h5";
}

ArticleSplit plan(const ShardBuildSettings& settings, const TextArticles& articles) {
    std::vector<std::int64_t> sentence_counts(articles.size());
    for (std::size_t a = 0; a < articles.size(); ++a) sentence_counts[a] = articles.sentence_count(a);
    const double fraction = settings.samples.held_out_fraction;
    const std::int64_t held_out = fraction > 0 ? settings.held_out_shards.value_or(settings.shards) : 0;
    return split_articles(sentence_counts, {settings.shards, held_out, fraction, settings.samples.seed});
}

}  // namespace

ShardBuildReport build_shards(const ShardBuildSettings& settings) {
    const Clock::time_point start = Clock::now();
    check_settings(settings);
    const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(settings.vocabulary));
    const TextArticles articles(settings.texts);
    const ArticleSplit split = plan(settings, articles);
    prepare_folder(settings);
    const std::size_t total = split.training.size() + split.held_out.size();
    log_info(concat(with_thousands(static_cast<std::int64_t>(articles.size())), " articles, ", bytes_text(articles.total_bytes()),
                    " of text, into ", split.training.size(), " training and ", split.held_out.size(), " held-out shards"));

    Manifest manifest{settings.samples, {vocabulary_name, vocabulary->size(), vocabulary->crc32()}, {}, 0};
    Builder builder(settings, articles, vocabulary);
    Clock::time_point last_line = start;
    const auto build_all = [&](const std::vector<std::vector<std::size_t>>& shards, ShardKind kind) {
        for (std::size_t s = 0; s < shards.size(); ++s) {
            const std::size_t number = manifest.shards.size();
            manifest.shards.push_back(builder.build(shard_name(settings, kind, s), shards[s], number, kind));
            if (seconds_since(last_line) < seconds_between_lines) continue;
            last_line = Clock::now();
            const double elapsed = seconds_since(start),
                         left = elapsed / static_cast<double>(number + 1) * static_cast<double>(total - number - 1);
            log_info(concat("shard ", number + 1, " of ", total, ", about ", duration_text(left), " left at most"));
        }
    };
    build_all(split.training, ShardKind::training);
    build_all(split.held_out, ShardKind::held_out);

    manifest.unigram_cross_entropy = builder.unigram_cross_entropy();
    std::sort(manifest.shards.begin(), manifest.shards.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
    vocabulary->write(settings.output / vocabulary_name);
    write_manifest(settings.output, manifest);
    return {std::move(manifest), articles.size(), articles.total_bytes(), seconds_since(start)};
}

}  // namespace bertpretrain
