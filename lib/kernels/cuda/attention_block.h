#pragma once
// Shared by the attention kernels on tensor cores. A block has 8 warps where nothing else is said. Matrices in shared memory have
// rows padded by 16 bytes, so that eight rows touch every bank once.

#include "kernels/cuda/attention_tiles.h"
#include "kernels/cuda/dropout_factors.h"
#include "kernels/cuda/fp8_rows.h"
#include "kernels/cuda/tensor_cores.h"

namespace bertpretrain::cuda {

constexpr int attention_threads = 256, attention_warps = attention_threads / warp_lanes;
constexpr int warp_rows = 16, row_padding = 8;

/// Elements between rows of a matrix with D columns in shared memory.
template <int D>
constexpr int pitch_of = D + row_padding;

/// Where elements of such a matrix lie.
template <int D>
struct PaddedRows {
    static constexpr int pitch = pitch_of<D>;
    static constexpr std::size_t alignment = 16;

    __device__ static int at(int row, int column) { return row * pitch + column; }
};

/// Element e of eight adjacent bf16.
__device__ __forceinline__ float element_of(const uint4& eight, int e) {
    const unsigned word = e < 2 ? eight.x : e < 4 ? eight.y : e < 6 ? eight.z : eight.w;
    return __uint_as_float(e % 2 == 0 ? word << 16 : word & 0xFFFF0000U);
}
/// Adds eight floats to eight adjacent bf16 and rounds.
__device__ __forceinline__ uint4 with_bias(const uint4& eight, const float (&bias)[8]) {
    return {bf16_pair(element_of(eight, 0) + bias[0], element_of(eight, 1) + bias[1]),
            bf16_pair(element_of(eight, 2) + bias[2], element_of(eight, 3) + bias[3]),
            bf16_pair(element_of(eight, 4) + bias[4], element_of(eight, 5) + bias[5]),
            bf16_pair(element_of(eight, 6) + bias[6], element_of(eight, 7) + bias[7])};
}
__device__ __forceinline__ void load_eight_floats(const float* at, float (&values)[8]) {
    load_quad(at, values);
    load_quad(at + 4, values + 4);
}

/// One head of one sequence.
struct HeadOfSequence {
    int sequence, head, length;  ///< length: tokens
    std::int64_t first_row;
    std::uint64_t sample;

    __device__ HeadOfSequence(const AttentionInputs<Bf16>& in, int sequence_, int head_)
        : sequence(sequence_),
          head(head_),
          length(static_cast<int>(in.starts_B1[sequence + 1] - in.starts_B1[sequence])),
          first_row(in.starts_B1[sequence]),
          sample(static_cast<std::uint64_t>(in.samples_B[sequence])) {}
    /// @param index  sequence x number of heads + head
    __device__ HeadOfSequence(const AttentionInputs<Bf16>& in, unsigned index)
        : HeadOfSequence(in, static_cast<int>(index / static_cast<unsigned>(in.heads)),
                         static_cast<int>(index % static_cast<unsigned>(in.heads))) {}

    /// Number of steps of 16 tokens that cover the sequence.
    __device__ int steps() const { return (length + warp_rows - 1) / warp_rows; }
};

/// `size` tokens of one head of one sequence.
template <int size>
struct PartOfHead {
    HeadOfSequence at;
    int first;           ///< token
    std::int64_t index;  ///< of the tile

    /// @param block  of a grid of tiles x heads
    __device__ PartOfHead(const AttentionInputs<Bf16>& in, unsigned block) : PartOfHead(in, tile_of_block<size>(in, block)) {}

private:
    __device__ PartOfHead(const AttentionInputs<Bf16>& in, const TileOfBlock& tile)
        : at(in, tile.sequence, tile.head), first(tile.first), index(tile.index) {}
};

/// Returns blockIdx.x, but the compiler does not know that it is the same as before. So it computes again what follows from it,
/// and does not keep that in registers over a kernel's loop.
__device__ __forceinline__ unsigned block_index_again() {
#ifdef __CUDACC__
    unsigned index;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    return index;
#else
    return blockIdx.x;
#endif
}

/// Returns the Philox counter that decides 8 of 128 probabilities of a row: keys first_key + element + 16 h, h from 0 to 7.
/// @param first_key  a multiple of 128 @param element  below 16
__device__ __forceinline__ Counter attention_counter(const AttentionDropout& dropout, const HeadOfSequence& at, int query,
                                                     int first_key, int element) {
    constexpr unsigned groups_per_head = 8192;  // kernels/interface/dropout.h, attention_groups_per_head
    return {{static_cast<unsigned>(at.head) * groups_per_head + static_cast<unsigned>(first_key / 8 + element),
             static_cast<unsigned>(query) | dropout.site << 16, static_cast<unsigned>(at.sample),
             static_cast<unsigned>(at.sample >> 32)}};
}

/// Returns which of the 32 probabilities that a lane holds of 128 keys of a row are kept: bit t + 16j is key
/// first_key + 8t + 2c + j. One Philox call decides keys e, e + 16, ... of a row, so a lane needs exactly four calls.
__device__ __forceinline__ unsigned kept_of_row(const AttentionDropout& dropout, const HeadOfSequence& at, int query,
                                                int first_key) {
    const unsigned upper_threshold = dropout.threshold << 16;
    unsigned kept[2] = {};  // by j
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        const int element = 2 * (lane() % 4) + j;
        const Counter left = philox_words(dropout.keys, attention_counter(dropout, at, query, first_key, element)),
                      right = philox_words(dropout.keys, attention_counter(dropout, at, query, first_key, element + 8));
#pragma unroll
        for (int h = 7; h >= 0; --h) {
            append_kept(kept[j], right, h, upper_threshold);
            append_kept(kept[j], left, h, upper_threshold);
        }
    }
    return kept[0] | kept[1] << 16;
}

/// Maximum over the four lanes that share a row of sums.
__device__ __forceinline__ float largest_in_row(float value) {
    value = fmaxf(value, __shfl_xor_sync(all_lanes, value, 1));
    return fmaxf(value, __shfl_xor_sync(all_lanes, value, 2));
}
__device__ __forceinline__ float sum_in_row(float value) {
    value += __shfl_xor_sync(all_lanes, value, 1);
    return value + __shfl_xor_sync(all_lanes, value, 2);
}

/// Returns 16 rows and the 16 columns of two adjacent tiles of sums as operand A.
__device__ __forceinline__ FragmentA fragment_of(const Sums& left, const Sums& right) {
    return {
        {bf16_pair(left[0], left[1]), bf16_pair(left[2], left[3]), bf16_pair(right[0], right[1]), bf16_pair(right[2], right[3])}};
}

/// Writes a warp's 16 rows of sums as bf16 to device memory, through `stage`, the warp's own 16 rows of shared memory.
/// @tparam Rows  where the elements of `stage` lie @param rows number of the 16 rows that exist
template <int D, class Rows = PaddedRows<D>>
__device__ __forceinline__ void store_rows(const Sums (&sums)[D / 8], const float (&factors)[2], Bf16* stage, Bf16* to,
                                           std::int64_t stride, int rows) {
    constexpr int pieces_of_row = D / 8;
    const int g = lane() / 4, c = lane() % 4;
    __syncwarp();
#pragma unroll
    for (int t = 0; t < D / 8; ++t)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            *reinterpret_cast<unsigned*>(stage + Rows::at(g + 8 * half, 8 * t + 2 * c)) =
                bf16_pair(sums[t][2 * half] * factors[half], sums[t][2 * half + 1] * factors[half]);
    __syncwarp();
#pragma unroll
    for (int piece = lane(); piece < warp_rows * pieces_of_row; piece += warp_lanes) {
        const int row = piece / pieces_of_row, column = piece % pieces_of_row * 8;
        if (row < rows)
            *reinterpret_cast<uint4*>(to + row * stride + column) =
                *reinterpret_cast<const uint4*>(stage + Rows::at(row, column));
    }
}

/// The same, times one factor, as an operand in F and its transpose, at row `first_row` and `column` of it; columns are a
/// multiple of 16.
/// @param stage of 16 (D + 16) bytes and of 20 D, whichever is more, aligned to 16
template <class F, int D>
__device__ __forceinline__ void store_rows(const Sums (&sums)[D / 8], float factor, std::uint8_t* stage, const Fp8Rows& to,
                                           std::int64_t first_row, std::int64_t column, int rows) {
    constexpr int row_pitch = D + 16, column_pitch = warp_rows + 4, pieces_of_row = D / 16;
    const int g = lane() / 4, c = lane() % 4;
    const float scale = *to.scale;
    unsigned quads[D / 8], magnitude = 0;  // columns 8t + 2c, 8t + 2c + 1 of row g, then of row g + 8
#pragma unroll
    for (int t = 0; t < D / 8; ++t) {
        float x[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) x[i] = g + 8 * (i / 2) < rows ? sums[t][i] * factor : 0.0F;
        quads[t] = rounded_quad<F>(x, scale, magnitude);
    }
    __syncwarp();
#pragma unroll
    for (int t = 0; t < D / 8; ++t)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            *reinterpret_cast<std::uint16_t*>(stage + (g + 8 * half) * row_pitch + 8 * t + 2 * c) =
                static_cast<std::uint16_t>(quads[t] >> 16 * half);
    __syncwarp();
#pragma unroll
    for (int piece = lane(); piece < warp_rows * pieces_of_row; piece += warp_lanes) {
        const int row = piece / pieces_of_row, at = piece % pieces_of_row * 16;
        if (row < rows)
            *reinterpret_cast<uint4*>(to.by_row + (first_row + row) * to.width + column + at) =
                *reinterpret_cast<const uint4*>(stage + row * row_pitch + at);
    }
    __syncwarp();
#pragma unroll
    for (int t = 0; t < D / 8; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            stage[(8 * t + 2 * c + i % 2) * column_pitch + g + 8 * (i / 2)] = static_cast<std::uint8_t>(quads[t] >> 8 * i);
    __syncwarp();
    for (int word = lane(); word < D * warp_rows / 4; word += warp_lanes) {
        const int feature = word / (warp_rows / 4), row = word % (warp_rows / 4) * 4;
        const std::uint8_t* const from = stage + feature * column_pitch + row;
        std::uint8_t* const at = to.by_column + (column + feature) * to.rows + first_row + row;
        if (first_row % 4 == 0 && row + 4 <= rows) *reinterpret_cast<unsigned*>(at) = *reinterpret_cast<const unsigned*>(from);
        else
            for (int r = 0; r < 4; ++r)
                if (row + r < rows) at[r] = from[r];
    }
    add_largest_of_warp(magnitude, to.largest);
}

/// Writes a warp's 16 rows of the gradient of queries, keys and values. @param row in T @param column of the 3H
template <int D, class Rows>
__device__ __forceinline__ void store_gradient(const Sums (&sums)[D / 8], float factor, Bf16* stage, const QkvGradient& to,
                                               std::int64_t row, std::int64_t column, std::int64_t H, int rows) {
    const float factors[2] = {factor, factor};
    if (to.fp8.by_row != nullptr)
        store_rows<E5m2, D>(sums, factor, reinterpret_cast<std::uint8_t*>(stage), to.fp8, row, column, rows);
    else store_rows<D, Rows>(sums, factors, stage, to.rows_T3H + row * 3 * H + column, 3 * H, rows);
}

}  // namespace bertpretrain::cuda
