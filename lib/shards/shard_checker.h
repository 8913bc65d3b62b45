#pragma once
// Whether a folder of shards is fit for training, and what is in it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shards/manifest.h"

namespace bertpretrain {

/// What a shard, or several together, hold.
struct ShardContent {
    std::int64_t rows = 0, tokens = 0, masked = 0;

    double masking_rate() const { return tokens > 0 ? static_cast<double>(masked) / static_cast<double>(tokens) : 0; }
    double mean_length() const { return rows > 0 ? static_cast<double>(tokens) / static_cast<double>(rows) : 0; }
};

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
    std::int64_t duplicate_rows = 0;              ///< rows equal to an earlier one in everything, masks included
    double unigram_cross_entropy = 0;             ///< nats, of the training shards' masked labels
    std::vector<std::string> problems;            ///< empty: all is well
};

/// Checks the manifest, each file's checksum (where the manifest gives none, the file is first tried in a child process),
/// each shard's layout, every row, and that sums agree with the manifest. Keeps 8 bytes per row in memory.
/// @param vocabulary the file to check ids against; else vocab.txt in the folder, if there is one
/// @throws DataError when there is no shard at all, or the vocabulary cannot be read
FolderReport check_shard_folder(const std::filesystem::path& folder, const std::optional<std::filesystem::path>& vocabulary,
                                std::size_t threads);

}  // namespace bertpretrain
