#include "shards/dataset_card.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/concat.h"
#include "core/markdown.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Row = std::pair<std::string, std::string>;

std::string name_of_shards(const Manifest& manifest) {
    const std::string file = manifest.shards.empty() ? "shards" : manifest.shards.front().file;
    return file.substr(0, std::min(file.find("_training"), file.find("_test")));
}

/// The hub's name for a number of rows: 1K<n<10K.
std::string size_category(std::int64_t rows) {
    constexpr std::pair<std::int64_t, const char*> limits[] = {
        {1'000, "n<1K"},          {10'000, "1K<n<10K"},        {100'000, "10K<n<100K"},     {1'000'000, "100K<n<1M"},
        {10'000'000, "1M<n<10M"}, {100'000'000, "10M<n<100M"}, {1'000'000'000, "100M<n<1B"}};
    for (const auto& [limit, name] : limits)
        if (rows < limit) return name;
    return "1B<n<10B";
}

std::string described_totals(const ShardTotals& totals) {
    return concat(totals.shards, totals.shards == 1 ? " file, " : " files, ", with_thousands(totals.rows), " rows, ",
                  with_thousands(totals.tokens), " tokens");
}

std::string corpus_list(const Manifest& manifest) {
    constexpr std::size_t most_listed = 20;
    std::string list;
    for (std::size_t i = 0; i < manifest.corpus.size(); ++i) {
        if (i == most_listed)
            return list + concat("- and ", manifest.corpus.size() - most_listed, " more, all in `manifest.json`\n");
        const FileDigest& file = manifest.corpus[i];
        list += concat("- ", markdown_text(fs::path(file.file).filename().string()), " (",
                       with_thousands(static_cast<std::int64_t>(file.bytes)), " bytes, SHA-256 `", file.sha256.substr(0, 16),
                       "...`)\n");
    }
    return list.empty() ? "The manifest does not record them.\n" : list;
}

}  // namespace

std::string dataset_card(const Manifest& manifest) {
    const std::string name = name_of_shards(manifest);
    const SampleSettings& settings = manifest.settings;
    const ShardTotals training = shard_totals(manifest, ShardKind::training),
                      held_out = shard_totals(manifest, ShardKind::held_out);
    const std::vector<Row> rows{
        {"training", described_totals(training)},
        {"held out", held_out.shards == 0 ? "none" : described_totals(held_out)},
        {"objective", settings.has_labels() ? "masked words and next sentences" : "masked words"},
        {"tokens per row", with_thousands(settings.sequence_length)},
        {"masked", concat(fixed(100 * settings.masked_lm_prob, 1), " % of a row's tokens, at most ", settings.max_predictions,
                          settings.whole_word_masking ? ", whole words" : "")},
        {"passes over the text", concat(settings.duplicate_factor)},
        {"vocabulary",
         concat("`", manifest.vocabulary.file, "`, ", with_thousands(manifest.vocabulary.size), " tokens, ", settings.casing)},
        {"seed", concat(settings.seed)},
        {"cross-entropy of guessing by frequency", concat(fixed(manifest.unigram_cross_entropy, 4), " nats per masked token")}};
    return concat("---\npretty_name: ", yaml_text(name), "\n", licence_yaml,
                  "task_categories:\n- fill-mask\ntags:\n- bertpretrain\n", "- masked-language-modelling\nsize_categories:\n- ",
                  size_category(training.rows + held_out.rows), "\n---\n\n# ", markdown_text(name),
                  "\n\nTokenized samples for pretraining an encoder, in HDF5 files that `bertpretrain train` and NVIDIA's "
                  "BERT scripts read. `manifest.json` has every setting, and sizes and checksums of all files.\n\n",
                  markdown_table("", "value", rows),
                  "\n## Text\n\nThe rows were made by `bertpretrain_data shard` from these files:\n\n", corpus_list(manifest),
                  "\n## Use\n\n```sh\nbertpretrain_data check FOLDER\n",
                  "bertpretrain train EXPERIMENT.json --set data.training_shards=FOLDER\n```\n\n## Licence\n\n", licence_note,
                  " It must be one that the licences of the text allow.\n");
}

}  // namespace bertpretrain
