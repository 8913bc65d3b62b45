#pragma once
// Checks that a folder of shards is valid for training, and reports its content.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shards/check/common_passages.h"
#include "shards/check/duplicate_rows.h"
#include "shards/check/shard_statistics.h"
#include "shards/manifest.h"

namespace bertpretrain {

struct CheckedShard {
    std::string file;
    ShardKind kind = ShardKind::training;
    std::int64_t sequence_length = 0, max_predictions = 0;
    bool has_labels = true;  ///< of next sentences
    ShardContent content;    ///< counts the rows before the first problem
    bool is_sound = false;
};

struct FolderReport {
    std::vector<CheckedShard> shards;
    ShardContent training, held_out;
    bool has_manifest = false;
    std::optional<std::int64_t> rules_version;    ///< the manifest's; nullopt: unknown
    std::optional<std::int64_t> vocabulary_size;  ///< nullopt: no vocabulary was found, so ids were not checked against its size
    Duplicates duplicates;
    std::optional<std::int64_t> duplicate_factor;  ///< nullopt: unknown, so repeated documents were not looked for
    CommonPassages passages;
    double unigram_cross_entropy = 0;   ///< nats per masked token: entropy of the training shards' labels
    std::vector<std::string> problems;  ///< empty: no problem was found
    std::vector<std::string> warnings;  ///< what is probably a mistake, but may be meant
};

/// Checks the manifest, each file's checksum, each shard's layout, every row, and the sums in the manifest. A file without a
/// recorded checksum is first read in a child process. Keeps 16 bytes per row and up to 136 MiB in memory.
/// @param vocabulary the file to check ids against; nullopt: vocab.txt in the folder, if there is one
/// @throws DataError if the folder contains no shard or is incomplete, or the vocabulary cannot be read
FolderReport check_shard_folder(const std::filesystem::path& folder, const std::optional<std::filesystem::path>& vocabulary,
                                std::size_t threads);

}  // namespace bertpretrain
