#pragma once
// Shared by the kernels of any_attention.h: fp32 tiles of 32 rows in shared memory. Their pitch is the width plus one, so that
// 32 lanes read 32 rows without bank conflicts.

#include "kernels/cuda/any_attention.h"
#include "kernels/cuda/attention_tiles.h"
#include "kernels/cuda/block_sums.h"
#include "kernels/cuda/dropout_factors.h"

namespace bertpretrain::cuda {

constexpr int tile_rows = 32, tile_threads = 256, rows_of_warp = tile_rows / (tile_threads / warp_lanes);
constexpr int features_of_lane = largest_head_of_any_attention / warp_lanes;

/// 32 rows of one head of one sequence.
struct TileOfHead {
    std::int64_t head, first_token;
    int length, first_row, D;
    std::uint64_t sample;

    /// The block's rows in a grid of (narrow tiles x heads, 2). The second half of a narrow tile may be empty.
    template <class W>
    __device__ explicit TileOfHead(const AttentionInputs<W>& in)
        : TileOfHead(in, tile_of_block<narrow_tile_rows>(in, blockIdx.x)) {}

    template <class W>
    __device__ TileOfHead(const AttentionInputs<W>& in, const TileOfBlock& tile)
        : head(tile.head),
          first_token(in.starts_B1[tile.sequence]),
          length(static_cast<int>(in.starts_B1[tile.sequence + 1] - first_token)),
          first_row(tile.first + static_cast<int>(blockIdx.y) * tile_rows),
          D(static_cast<int>(in.head_size)),
          sample(static_cast<std::uint64_t>(in.samples_B[tile.sequence])) {}

    /// The rows that attend to the tile's, and to which these attend, in whole tiles.
    __device__ Band read(int reach) const {
        const Band band = band_of(first_row, tile_rows, reach, length);
        return {band.begin / tile_rows * tile_rows, (band.end + tile_rows - 1) / tile_rows * tile_rows};
    }
    __device__ int pitch() const { return D + 1; }
    __device__ int tile_elements() const { return tile_rows * pitch(); }
    __device__ float scale() const { return rsqrtf(static_cast<float>(D)); }
};

/// Loads rows [first, first + 32) of a head's D columns; rows after the sequence's end are zeros. @param bias D values, or null
template <class W>
__device__ void load_tile(const TileOfHead& at, const W* rows, std::int64_t stride, const float* bias, int first, float* tile) {
    for (int i = static_cast<int>(threadIdx.x); i < tile_rows * at.D; i += tile_threads) {
        const int row = i / at.D, column = i % at.D;
        float value = 0;
        if (first + row < at.length)
            value = to_float(rows[(at.first_token + first + row) * stride + column]) + (bias != nullptr ? bias[column] : 0.0F);
        tile[row * at.pitch() + column] = value;
    }
}

/// Loads a tile of the query (part 0), key (1) or value (2), with its bias.
template <class W>
__device__ void load_part(const AttentionInputs<W>& in, const TileOfHead& at, int part, int first, float* tile) {
    const std::int64_t H = in.heads * at.D, column = part * H + at.head * at.D;
    load_tile(at, in.qkv_T3H + column, 3 * H, in.bias_3H + column, first, tile);
}

__device__ inline float dot(const float* a, const float* b, int D) {
    float sum = 0;
    for (int d = 0; d < D; ++d) sum += a[d] * b[d];
    return sum;
}

/// Returns the dropout factor (0 or 1 / (1 - p)) of the probability of (query, key).
__device__ inline float dropout_factor(const AttentionDropout& dropout, const TileOfHead& at, int query, int key) {
    if (dropout.threshold == 0) return 1;
    constexpr unsigned groups_per_head = 8192;  // kernels/interface/dropout.h, attention_groups_per_head
    const unsigned group = static_cast<unsigned>(at.head) * groups_per_head + static_cast<unsigned>(key / 128 * 16 + key % 16);
    const unsigned kept = kept_half_words(dropout.keys, dropout.threshold,
                                          {{group, static_cast<unsigned>(query) | dropout.site << 16,
                                            static_cast<unsigned>(at.sample), static_cast<unsigned>(at.sample >> 32)}});
    return (kept >> key % 128 / 16 & 1U) != 0 ? dropout.scale : 0.0F;
}

/// A warp's sums for its four rows of the tile; lane l holds columns l, l + 32, ...
struct RowSums {
    float at[rows_of_warp][features_of_lane] = {};

    /// Adds factors times the tile's rows; the factors of the warp's row i are factors[i * pitch + j] for j < 32.
    __device__ void add(const float* factors, int factors_pitch, const float* tile, const TileOfHead& place) {
        for (int j = 0; j < tile_rows; ++j)
#pragma unroll
            for (int f = 0; f < features_of_lane; ++f) {
                const int column = lane() + warp_lanes * f;
                if (column >= place.D) break;
                const float value = tile[j * place.pitch() + column];
#pragma unroll
                for (int i = 0; i < rows_of_warp; ++i) at[i][f] += factors[i * factors_pitch + j] * value;
            }
    }
    template <class W>
    __device__ void put(W* rows, std::int64_t stride, const TileOfHead& place) const {
#pragma unroll
        for (int i = 0; i < rows_of_warp; ++i) {
            const int row = place.first_row + warp() * rows_of_warp + i;
            if (row >= place.length) return;
#pragma unroll
            for (int f = 0; f < features_of_lane; ++f)
                if (lane() + warp_lanes * f < place.D)
                    store(rows + (place.first_token + row) * stride + lane() + warp_lanes * f, at[i][f]);
        }
    }
};

}  // namespace bertpretrain::cuda
