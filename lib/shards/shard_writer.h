#pragma once
// Writes shards that NVIDIA's readers and ours take alike, band by band, so that a shard may be larger than memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "shards/shard_reader.h"

namespace bertpretrain {

struct ShardSize {
    std::int64_t rows = 0, sequence_length = 0, max_predictions = 0;
};

/// Gives rows [first, first + count); called from several threads, once for each row.
using RowsOf = std::function<ShardRows(std::int64_t first, std::int64_t count)>;

/// One new file. The same rows give the same bytes, in whatever parts they come and whatever the number of threads.
class ShardWriter {
public:
    /// @throws DataError when the file cannot be written; so do the others
    ShardWriter(const std::filesystem::path& file, const ShardSize& size);
    ~ShardWriter();
    ShardWriter(const ShardWriter&) = delete;
    ShardWriter& operator=(const ShardWriter&) = delete;

    /// Writes `count` more rows, compressed on `threads` threads. About a MiB per thread is in memory.
    void append(std::int64_t count, const RowsOf& rows_of, std::size_t threads);
    /// Completes the file, which has all its rows.
    void finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Writes a shard whole or not at all. @throws DataError when the file cannot be written
void write_shard(const std::filesystem::path& file, const ShardSize& size, const RowsOf& rows_of, std::size_t threads);

}  // namespace bertpretrain
