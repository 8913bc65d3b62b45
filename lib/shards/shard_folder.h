#pragma once
// A folder of shards in the making: what may be in it before, what it holds afterwards.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shards/manifest.h"
#include "shards/shard_writer.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

/// Writes shards and counts what is in them; several threads may write() at once. While it is not complete the folder holds
/// building.json, which names the files that are to come: a later run removes what an interrupted one left, and nothing else.
class ShardFolder {
public:
    /// Claims the folder: makes it, removes an interrupted run's files or (when told to) old shards and their manifest.
    /// @param files the names of all shards that will be written
    /// @throws ConfigError when the folder holds shards or another vocabulary already, or another run works on it
    ShardFolder(std::filesystem::path folder, const SampleSettings& settings, const Vocabulary& vocabulary,
                const std::filesystem::path& vocabulary_file, const std::vector<std::string>& files, bool overwrite);
    ~ShardFolder();

    /// Adds rows to the shard that is being written.
    using Append = std::function<void(std::int64_t count, const RowsOf& rows_of)>;
    /// Writes one shard, whole or not at all. @param tokens of all rows, without padding
    /// @param fill appends all `rows` rows @throws DataError
    void write(const std::string& file, std::int64_t rows, std::int64_t tokens, std::size_t threads,
               const std::function<void(const Append&)>& fill);

    /// Writes vocab.txt and the manifest: the folder is complete. @throws DataError
    Manifest finish();

private:
    struct Lock;

    std::filesystem::path folder_;
    const Vocabulary& vocabulary_;
    std::unique_ptr<Lock> lock_;
    std::mutex guard_;  // of the following
    Manifest manifest_;
    std::vector<std::int64_t> label_counts_;  // of the training shards' masked tokens
};

}  // namespace bertpretrain
