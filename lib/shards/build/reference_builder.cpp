#include "shards/build/reference_builder.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "core/error.h"
#include "core/threads/threads.h"
#include "shards/build/build_progress.h"
#include "shards/build/build_request.h"
#include "shards/build/reference_samples.h"
#include "shards/build/shard_folder.h"
#include "storage/remote_address.h"
#include "text/content/byte_source.h"
#include "text/formats/document_format.h"
#include "text/reader/plain_text.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// Returns the name that bertPrep.py would use. Appends "_training" if that name would give the shard no kind.
std::string shard_name(const fs::path& text) {
    const std::string name = text.stem().string();
    return shard_kind(name + ".hdf5") ? name + ".hdf5" : name + "_training.hdf5";
}

std::vector<std::string> shard_names(const std::vector<fs::path>& texts) {
    std::vector<std::string> names;
    for (const fs::path& text : texts) names.push_back(shard_name(text));
    const std::set<std::string> distinct(names.begin(), names.end());
    if (distinct.size() < names.size())
        throw ConfigError("two TEXT files have the same name, so their shards would too; rename one");
    return names;
}

/// Such a shard reproduces what a script makes of plain text, so no other format is read.
void refuse_other_input(const fs::path& text) {
    if (is_remote_address(text.string()))
        throw ConfigError(concat(text.string(), ": is an address, but --compatible-with reads local files, as its script does",
                                 "\n  do: download the file, and name the copy"));
    ByteSource source(text);
    refuse_other_format(text, source.peek(format_head_bytes), "run `bertpretrain_data extract` on it first");
}

}  // namespace

ShardBuildReport build_reference_shards(const ShardBuildSettings& settings, const Tokenizer& tokenizer) {
    const Vocabulary& vocabulary = tokenizer.vocabulary();
    const std::vector<std::string> names = shard_names(settings.texts);
    for (const fs::path& text : settings.texts) refuse_other_input(text);
    std::uint64_t bytes = 0;
    for (const fs::path& text : settings.texts) {
        std::error_code failure;
        bytes += fs::file_size(text, failure);
        if (failure) throw DataError(concat(text.string(), ": cannot be read (", failure.message(), ")"));
    }
    BuildProgress progress;
    ShardFolder folder(settings.output, {settings.samples, settings.vocabulary, names, settings.overwrite}, vocabulary);
    progress.begin(bytes);
    const SampleRules rules = sample_rules(settings.samples, vocabulary);
    const std::size_t threads = settings.threads > 0 ? settings.threads : available_cores();
    const std::size_t at_once = std::min(threads, names.size()), threads_each = (threads + at_once - 1) / at_once;
    std::atomic<std::size_t> articles = 0;
    for_each_index(names.size(), at_once, [&](std::size_t t) {
        const Documents documents = read_reference_text(settings.texts[t], tokenizer, threads_each);
        articles += documents.size();
        const ReferenceSamples samples(documents, rules);
        folder.write(names[t], samples.size(), samples.token_count(), threads_each, [&](const ShardFolder::Append& append) {
            append(samples.size(), [&](std::int64_t first, std::int64_t count) { return samples.rows(first, count); });
        });
        progress.advance(static_cast<double>(fs::file_size(settings.texts[t])));
    });
    std::vector<FileDigest> corpus;
    for (const fs::path& text : settings.texts) {
        corpus.push_back(digest_of_file(text));
        corpus.back().made_from = origin_of_text(text, corpus.back());
    }
    return {folder.finish(std::move(corpus)), articles, bytes, progress.seconds()};
}

}  // namespace bertpretrain
