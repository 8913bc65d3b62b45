#pragma once
// A dataset as the pieces of the file that hold it, so that they are read and inflated without the HDF5 library: it does one
// thing at a time, and its decoder sees no byte of these.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bertpretrain {

/// One chunk of the file, perhaps compressed.
struct StoredChunk {
    std::uint64_t offset = 0, bytes = 0;
};

/// Little-endian integers in a grid of equal chunks, each of them rows by rows; those at the edges reach beyond the dataset.
struct ChunkedDataset {
    std::string what;  ///< begins every message
    std::int64_t rows = 0, columns = 1;
    std::int64_t chunk_rows = 0, chunk_columns = 1;
    std::int64_t value_bytes = 4;  ///< 1, 2, 4 or 8
    bool is_signed = true;
    bool is_deflated = false;         ///< zlib's format
    bool is_shuffled = false;         ///< all first bytes of a chunk's values, then all second ones, ..., before deflating
    std::vector<StoredChunk> chunks;  ///< of the grid, row by row; empty: the library must read this dataset

    std::int64_t chunks_across() const { return (columns + chunk_columns - 1) / chunk_columns; }
    std::int64_t chunks_down() const { return (rows + chunk_rows - 1) / chunk_rows; }
    std::int64_t chunk_bytes() const { return chunk_rows * chunk_columns * value_bytes; }
};

/// Whether the description can be true of a file of that size: the whole grid, inside the file, and no chunk larger than
/// its bytes can inflate to. To be called before anything is read by it.
/// @throws DataError
void require_plausible(const ChunkedDataset& dataset, std::uint64_t file_bytes);

/// Gives the bytes of a file from `offset` on; throws where there are not so many. Called from several threads at once.
using ReadAt = std::function<void(std::uint64_t offset, std::span<unsigned char> to)>;

inline constexpr std::uint64_t largest_deflate_ratio = 1032;  ///< of zlib's format

/// Some neighbouring chunks of one row of the grid, read by one thread: at least a cache line of a row's values, so that
/// threads seldom share one, and narrow chunks do not cost a pass over memory each.
struct ChunkGroup {
    std::int64_t grid_row = 0, first_column = 0, chunks = 0;  ///< in chunks
};

/// The groups that hold rows [first, first + count).
std::vector<ChunkGroup> groups_of(const ChunkedDataset& dataset, std::int64_t first, std::int64_t count);

/// Puts what a group holds of rows [first, first + values.size() / columns) into `values`, which starts at row `first`.
/// Integers that do not fit are brought to the nearest that does. Needs up to chunk_bytes() for each chunk of the group.
/// @throws DataError where the bytes are not what the description says
void read_group(const ChunkedDataset& dataset, const ChunkGroup& group, const ReadAt& read_at, std::int64_t first,
                std::span<std::int32_t> values);
void read_group(const ChunkedDataset& dataset, const ChunkGroup& group, const ReadAt& read_at, std::int64_t first,
                std::span<std::int8_t> values);

}  // namespace bertpretrain
