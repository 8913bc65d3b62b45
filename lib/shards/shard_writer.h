#pragma once
// Writes shards that NVIDIA's readers and ours take alike.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "shards/shard_reader.h"

namespace bertpretrain {

struct ShardSize {
    std::int64_t rows = 0, sequence_length = 0, max_predictions = 0;
};

/// Writes a shard whole or not at all. The same rows give the same bytes, whatever the number of threads.
/// @param rows_of gives rows [first, first + count); called from several threads, once for each band of rows
/// @throws DataError when the file cannot be written
void write_shard(const std::filesystem::path& file, const ShardSize& size,
                 const std::function<ShardRows(std::int64_t first, std::int64_t count)>& rows_of, std::size_t threads);

}  // namespace bertpretrain
