#pragma once
// Whether a folder of shards is fit for training, and what is in it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shards/duplicate_rows.h"
#include "shards/manifest.h"
#include "shards/shard_statistics.h"

namespace bertpretrain {

struct CheckedShard {
    std::string file;
    ShardKind kind = ShardKind::training;
    std::int64_t sequence_length = 0, max_predictions = 0;
    ShardContent content;  ///< of the rows up to the first problem
    bool is_sound = false;
};

struct FolderReport {
    std::vector<CheckedShard> shards;
    ShardContent training, held_out;
    bool has_manifest = false;
    std::optional<std::int64_t> vocabulary_size;  ///< none: no vocabulary was found, so ids were not compared with its size
    Duplicates duplicates;
    double unigram_cross_entropy = 0;   ///< nats, of the training shards' masked labels
    std::vector<std::string> problems;  ///< empty: all is well
};

/// Checks the manifest, each file's checksum (where the manifest gives none, the file is first tried in a child process),
/// each shard's layout, every row, and that sums agree with the manifest. Keeps 17 bytes per row in memory.
/// @param vocabulary the file to check ids against; else vocab.txt in the folder, if there is one
/// @throws DataError when there is no shard at all, or the vocabulary cannot be read
FolderReport check_shard_folder(const std::filesystem::path& folder, const std::optional<std::filesystem::path>& vocabulary,
                                std::size_t threads);

}  // namespace bertpretrain
