#pragma once
// Which rows of which head a block computes, and which keys its queries attend to.

#include "kernels/cuda/attention_inputs.h"

namespace bertpretrain::cuda {

/// Rows of one head of one sequence, which a block computes.
struct TileOfBlock {
    int sequence, head, first;  ///< first: row, counted from the sequence's
    std::int64_t index;         ///< in the list of tiles
};

/// Returns the tile and head of a block of a grid of tiles x heads. The blocks of a sequence begin head after head, so that those
/// that run at one time read the same keys.
/// @tparam rows  of a tile
template <int rows, class W>
__device__ __forceinline__ TileOfBlock tile_of_block(const AttentionInputs<W>& in, unsigned block) {
    static_assert(rows == wide_tile_rows || rows == narrow_tile_rows);
    const std::int64_t* const tiles_P = rows == wide_tile_rows ? in.wide_tiles.tiles_P : in.narrow_tiles.tiles_P;
    const auto heads = static_cast<unsigned>(in.heads);
    const unsigned some_tile = block / heads;  // of the block's sequence
    const std::int64_t tile = tiles_P[some_tile];
    const int sequence = static_cast<int>(tile >> 32);
    const unsigned first_tile = some_tile - static_cast<unsigned>(tile) / rows, block_of_sequence = block - first_tile * heads,
                   tiles = static_cast<unsigned>(in.starts_B1[sequence + 1] - in.starts_B1[sequence] + rows - 1) / rows,
                   part = block_of_sequence % tiles;
    return {sequence, static_cast<int>(block_of_sequence / tiles), static_cast<int>(part) * rows, first_tile + part};
}

/// Consecutive rows of a sequence.
struct Band {
    int begin, end;
};

/// Whether one of the rows [first, first + count) is in the band.
__device__ inline bool overlaps(const Band& band, int first, int count) { return first < band.end && first + count > band.begin; }

/// Returns the keys that at least one of the queries [first, first + count) attends to, which are also the queries that attend to
/// at least one of these keys.
__device__ inline Band band_of(int first, int count, int reach, int length) {
    const int begin = first - reach, end = first + count + reach;
    return {begin > 0 ? begin : 0, end < length ? end : length};
}

/// Returns the keys that all of these queries attend to, which are also the queries that attend to all of these keys. It is
/// empty, with an end before its begin, if there are none.
__device__ inline Band band_of_all(int first, int count, int reach, int length) {
    const int begin = first + count - 1 - reach, end = first + reach + 1;
    return {begin > 0 ? begin : 0, end < length ? end : length};
}

/// Whether all of the rows [first, first + count) are in the band.
__device__ inline bool contains(const Band& band, int first, int count) {
    return first >= band.begin && first + count <= band.end;
}

/// Whether a query does not attend to a key because the key is too far away.
__device__ inline bool is_outside(int query, int key, int reach) {
    return static_cast<unsigned>(key - query + reach) > 2 * static_cast<unsigned>(reach);
}

}  // namespace bertpretrain::cuda
