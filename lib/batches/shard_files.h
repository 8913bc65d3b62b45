#pragma once
// The shard files of a run: found, measured and found fitting before the first step.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "shards/shard_reader.h"

namespace bertpretrain {

/// What the model expects of every row.
struct RowFormat {
    std::int64_t sequence_length = 0;          ///< of the settings
    std::int64_t max_position_embeddings = 0;  ///< of the model
    std::int64_t vocab_size = 0;               ///< of the model
};

/// One shard file as it was when the run began.
struct ShardFile {
    std::filesystem::path file;
    std::int64_t rows = 0, band_rows = 0, max_predictions = 0;
    std::int64_t crc32 = 0;       ///< of its bytes
    bool is_in_manifest = false;  ///< a manifest beside it records it
    std::shared_ptr<const ShardReader> reader;
};

/// Verifies every file (verify_shards) and opens it once; the result is sorted by name, folders aside.
/// @param threads files verified at once
/// @throws ConfigError when the model has fewer positions than a sequence
/// @throws DataError when there are no files, one cannot be read, holds rows of another length, or is not as its manifest says
std::vector<ShardFile> survey_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format,
                                     std::size_t threads = 1);

/// Rows [first, first + count), every value checked.
/// @throws DataError naming file, row and value; also when the file is not what the survey found
ShardRows read_checked_rows(const ShardFile& shard, std::int64_t first, std::int64_t count, const RowFormat& format,
                            std::size_t threads = 1);

}  // namespace bertpretrain
