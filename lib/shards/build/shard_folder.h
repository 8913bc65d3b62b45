#pragma once
// The output folder while shards are being built: claims it, clears old files, and completes it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/files/file_lock.h"
#include "shards/build/part_record.h"
#include "shards/build/shard_writer.h"
#include "shards/manifest.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// Refuses early what ShardFolder would refuse: a folder that already contains a manifest. @throws ConfigError unless `overwrite`
void check_empty(const std::filesystem::path& folder, bool overwrite);

/// What a folder of shards is made for.
struct FolderRequest {
    SampleSettings settings;
    std::filesystem::path vocabulary_file;
    std::vector<std::string> files;                     ///< the names of all shards, those of other parts too
    bool overwrite = false;                             ///< replace old shards and their manifest; not of a part
    BuildPart part = {};                                ///< which of them are written
    std::optional<std::vector<FileDigest>> texts = {};  ///< nullopt: not known yet, so nothing of an earlier run is kept
};

/// Writes shards and counts their content. Until finish(), the folder contains building.json with the names of all files to be
/// written, so that a later run removes exactly what an interrupted run left, and a record of the finished shards, after which a
/// later run that makes the same ones goes on. Of a part, both stay until join_parts().
class ShardFolder {
public:
    /// Claims the folder: creates it, and removes an interrupted run's files and, with `overwrite`, old shards and their
    /// manifest.
    /// @param vocabulary must outlive this object
    /// @throws ConfigError if the folder already contains shards or another vocabulary, has a part of another build, or another
    /// run is writing to it
    ShardFolder(std::filesystem::path folder, FolderRequest request, const Vocabulary& vocabulary);

    /// Whether an earlier run has finished a shard, whose bytes were compared with its record.
    bool has(const std::string& file) const { return record_.manifest.find(file) != nullptr; }

    /// Appends rows to the shard that write() is writing.
    using Append = std::function<void(std::int64_t count, const RowsOf& rows_of)>;
    /// Writes one shard atomically. Several threads may write different shards at once.
    /// @param tokens number of tokens in all rows, without padding
    /// @param fill must append all `rows` rows  @throws DataError if the file cannot be written
    void write(const std::string& file, std::int64_t rows, std::int64_t tokens, std::size_t threads,
               const std::function<void(const Append&)>& fill);

    /// Writes the tokenizer's file and the manifest, which completes the folder; of a part, the tokenizer's file and the record.
    /// @param corpus the texts  @returns the manifest; of a part, with its own shards  @throws DataError
    Manifest finish(std::vector<FileDigest> corpus);

private:
    void write_vocabulary() const;

    std::filesystem::path folder_;
    FolderRequest request_;
    const Vocabulary& vocabulary_;
    std::string definition_;           // the tokenizer's file; empty: the vocabulary is a list of tokens
    std::string replaced_vocabulary_;  // the file name of the vocabulary of shards that `overwrite` removed; empty: none
    std::optional<LockedFile> lock_;   // the building file
    std::mutex guard_;                 // protects the members below
    PartRecord record_;
};

}  // namespace bertpretrain
