#pragma once
// The number of tokens of rows, read without the rest of the row.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "batches/band_cache.h"
#include "batches/sample_order.h"
#include "batches/shard_files.h"

namespace bertpretrain {

/// Lengths of the rows of bands, from the shards' input_mask only: a seventh of a row's bytes in memory, and nearly none of the
/// compressed file's. Not thread-safe.
class RowLengths {
public:
    RowLengths(std::vector<ShardFile> shards, std::size_t threads) : shards_(std::move(shards)), threads_(threads) {}

    /// Returns the tokens of a sample's row. Reads the lengths of its band, unless they are known or the band is in `cache`.
    /// @throws DataError
    std::int64_t tokens_of(const SamplePlace& place, const BandCache& cache);

    /// Drops the bands with smaller numbers.
    void forget_before(std::int64_t band_number);

    /// Number of rows of which only the length was read so far.
    std::int64_t rows_read() const { return rows_read_; }

private:
    std::vector<std::uint32_t> lengths_of(const SamplePlace& place, const BandCache& cache);

    std::vector<ShardFile> shards_;
    std::size_t threads_;
    std::map<std::int64_t, std::vector<std::uint32_t>> bands_;  ///< tokens of each row, by the band's number
    std::int64_t rows_read_ = 0;
};

}  // namespace bertpretrain
