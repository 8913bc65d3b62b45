#pragma once
// Writes shards that NVIDIA's readers and ours can read. Writes band by band, so a shard may be larger than memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "shards/shard_rows.h"

namespace bertpretrain {

struct ShardSize {
    std::int64_t rows = 0, sequence_length = 0, max_predictions = 0;
    bool has_labels = true;  ///< false: the file has no next_sentence_labels
};

/// Returns rows [first, first + count). Must be thread-safe. Called once for each row.
using RowsOf = std::function<ShardRows(std::int64_t first, std::int64_t count)>;

/// Writes one new file. Its bytes depend on the rows only, not on how they are split into append() calls or on the number of
/// threads.
class ShardWriter {
public:
    /// This and all other members throw DataError if the file cannot be written.
    ShardWriter(const std::filesystem::path& file, const ShardSize& size);
    ~ShardWriter();
    ShardWriter(const ShardWriter&) = delete;
    ShardWriter& operator=(const ShardWriter&) = delete;

    /// Writes `count` more rows, compressed on `threads` threads. Needs about 1 MiB of memory per thread.
    void append(std::int64_t count, const RowsOf& rows_of, std::size_t threads);
    /// Completes the file. All rows must have been appended.
    void finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Writes a shard atomically. @throws DataError if the file cannot be written
void write_shard(const std::filesystem::path& file, const ShardSize& size, const RowsOf& rows_of, std::size_t threads);

}  // namespace bertpretrain
