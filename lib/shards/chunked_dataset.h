#pragma once
// Describes a dataset by the file positions of its chunks, so that threads can read and inflate them without the HDF5 library,
// which runs one call at a time. The library's decoder never processes these bytes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bertpretrain {

/// Position and stored size of one chunk, which may be compressed.
struct StoredChunk {
    std::uint64_t offset = 0, bytes = 0;
};

/// A 2-D array of little-endian integers, stored as a grid of equal row-major chunks. Chunks at the edges are padded.
struct ChunkedDataset {
    std::string what;  ///< prefix of every error message
    std::int64_t rows = 0, columns = 1;
    std::int64_t chunk_rows = 0, chunk_columns = 1;
    std::int64_t value_bytes = 4;  ///< 1, 2, 4 or 8
    bool is_signed = true;
    bool is_deflated = false;         ///< in zlib's format
    bool is_shuffled = false;         ///< byte planes: first bytes of all values, then second bytes, ...; applied before deflate
    std::vector<StoredChunk> chunks;  ///< of the grid in row-major order; empty: only the HDF5 library can read the dataset

    std::int64_t chunks_across() const { return (columns + chunk_columns - 1) / chunk_columns; }
    std::int64_t chunks_down() const { return (rows + chunk_rows - 1) / chunk_rows; }
    std::int64_t chunk_bytes() const { return chunk_rows * chunk_columns * value_bytes; }
};

/// Checks that the description fits a file of that size. Call it before reading.
/// @throws DataError if the grid is incomplete, a chunk lies outside the file, or its bytes cannot inflate to a whole chunk
void require_plausible(const ChunkedDataset& dataset, std::uint64_t file_bytes);

/// Reads to.size() bytes of a file at `offset`. Must throw if the file is too short, and must be thread-safe.
using ReadAt = std::function<void(std::uint64_t offset, std::span<unsigned char> to)>;

inline constexpr std::uint64_t largest_deflate_ratio = 1032;  ///< maximum of zlib's format

/// Neighbouring chunks of one grid row that one thread reads. They cover at least a cache line of each row's values, so that
/// threads rarely share a cache line and narrow chunks do not each cost a pass over memory.
struct ChunkGroup {
    std::int64_t grid_row = 0, first_column = 0, chunks = 0;  ///< in chunks
};

/// Returns the groups that contain rows [first, first + count).
std::vector<ChunkGroup> groups_of(const ChunkedDataset& dataset, std::int64_t first, std::int64_t count);

/// Copies the group's part of rows [first, first + values.size() / columns) into `values`, whose first row is `first`.
/// Clamps integers that do not fit the type. Allocates up to chunk_bytes() for each chunk of the group.
/// @throws DataError if the bytes do not match the description
void read_group(const ChunkedDataset& dataset, const ChunkGroup& group, const ReadAt& read_at, std::int64_t first,
                std::span<std::int32_t> values);
void read_group(const ChunkedDataset& dataset, const ChunkGroup& group, const ReadAt& read_at, std::int64_t first,
                std::span<std::int8_t> values);

}  // namespace bertpretrain
