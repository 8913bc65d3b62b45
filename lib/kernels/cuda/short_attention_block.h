#pragma once
// Shared by the forward and backward of short attention. A block has 8 warps with 16 queries each. Matrices in shared memory have
// rows padded by 16 bytes, so that eight rows touch every bank once.

#include <cstddef>

#include "kernels/cuda/dropout_factors.h"
#include "kernels/cuda/short_attention.h"
#include "kernels/cuda/tensor_cores.h"

namespace bertpretrain::cuda {

constexpr int attention_threads = 256, warp_rows = 16, row_padding = 8, key_steps = longest_short_sequence / 16;

/// One head of one sequence.
struct HeadOfSequence {
    std::int64_t sequence, head, first_row;
    int length;  ///< tokens
    std::uint64_t sample;

    __device__ explicit HeadOfSequence(const ShortAttention& in)
        : sequence(blockIdx.x / in.heads),
          head(blockIdx.x % in.heads),
          first_row(in.starts_B1[sequence]),
          length(static_cast<int>(in.starts_B1[sequence + 1] - first_row)),
          sample(static_cast<std::uint64_t>(in.samples_B[sequence])) {}

    /// Number of steps of 16 tokens that cover the sequence.
    __device__ int steps() const { return (length + warp_rows - 1) / warp_rows; }
};

/// The 128 x D matrices of one head.
template <int D>
struct HeadMatrix {
    static constexpr int pitch = D + row_padding, elements = longest_short_sequence * pitch;
    static constexpr int pieces_of_row = D / 8, rows_at_once = attention_threads / pieces_of_row;
    static constexpr int pieces = longest_short_sequence / rows_at_once;  ///< of 16 bytes, per thread

    __device__ static int column() { return static_cast<int>(threadIdx.x) % pieces_of_row * 8; }
    __device__ static int row(int piece) { return static_cast<int>(threadIdx.x) / pieces_of_row + piece * rows_at_once; }

    /// A thread's 16-byte pieces of a matrix in device memory, loaded all at once.
    struct Pieces {
        uint4 at[pieces];

        /// @param from row 0; rows are `stride` elements apart @param length rows from here on are zeros
        __device__ __forceinline__ Pieces(const Bf16* from, std::int64_t stride, int length) {
#pragma unroll
            for (int i = 0; i < pieces; ++i) {
                at[i] = {0, 0, 0, 0};
                if (row(i) < length) at[i] = *reinterpret_cast<const uint4*>(from + row(i) * stride + column());
            }
        }
        __device__ __forceinline__ float element(int i, int e) const {
            const unsigned word = e < 2 ? at[i].x : e < 4 ? at[i].y : e < 6 ? at[i].z : at[i].w;
            return __uint_as_float(e % 2 == 0 ? word << 16 : word & 0xFFFF0000U);
        }
        __device__ __forceinline__ void put(Bf16* matrix) const {
#pragma unroll
            for (int i = 0; i < pieces; ++i) *reinterpret_cast<uint4*>(matrix + row(i) * pitch + column()) = at[i];
        }
        /// Adds the bias of the head's D columns to the sequence's rows, then writes like put().
        __device__ __forceinline__ void put_biased(Bf16* matrix, const float* bias, int length) {
            float b[8];
            load_quad(bias + column(), b);
            load_quad(bias + column() + 4, b + 4);
#pragma unroll
            for (int i = 0; i < pieces; ++i)
                if (row(i) < length)
                    at[i] = {bf16_pair(element(i, 0) + b[0], element(i, 1) + b[1]),
                             bf16_pair(element(i, 2) + b[2], element(i, 3) + b[3]),
                             bf16_pair(element(i, 4) + b[4], element(i, 5) + b[5]),
                             bf16_pair(element(i, 6) + b[6], element(i, 7) + b[7])};
            put(matrix);
        }
    };
};

/// Returns which of the 32 probabilities that a lane holds of a row are kept: bit 2t + j is column 8t + 2c + j. One Philox call
/// decides columns e, e + 16, ... of a row, so a lane needs exactly four calls.
__device__ __forceinline__ unsigned kept_of_row(const AttentionDropout& dropout, const HeadOfSequence& at, int query) {
    constexpr unsigned groups_per_head = 8192;  // kernels/dropout.h, attention_groups_per_head
    const unsigned upper_threshold = dropout.threshold << 16;
    unsigned kept = 0;
#pragma unroll
    for (int call = 0; call < 4; ++call) {
        const int j = call % 2, right = call / 2, element = 8 * right + 2 * (lane() % 4) + j;
        const Counter words =
            philox_words(dropout.key, {{static_cast<unsigned>(at.head) * groups_per_head + static_cast<unsigned>(element),
                                        static_cast<unsigned>(query) | dropout.site << 16, static_cast<unsigned>(at.sample),
                                        static_cast<unsigned>(at.sample >> 32)}});
#pragma unroll
        for (int h = 0; h < 8; ++h) kept |= keeps(words, h, upper_threshold) ? 1U << (4 * h + 2 * right + j) : 0U;
    }
    return kept;
}

/// sums = rows [first_row, first_row + 16) of a, times the transpose of b's rows from first_key on, one row per column of sums.
/// Skips steps of 16 rows that begin at end_key or later.
template <int D, std::size_t tiles>
__device__ __forceinline__ void multiply_by_rows(const Bf16* a, const Bf16* b, int first_row, int first_key, int end_key,
                                                 Sums (&sums)[tiles]) {
    constexpr int pitch = HeadMatrix<D>::pitch, pairs = static_cast<int>(tiles) / 2;
#pragma unroll
    for (int feature = 0; feature < D; feature += 16) {
        const FragmentA rows = load_a(a, pitch, first_row, feature);
#pragma unroll
        for (int pair = 0; pair < pairs; ++pair) {
            if (first_key + 16 * pair >= end_key) break;
            const FragmentsB keys = load_b_of_rows(b, pitch, first_key + 16 * pair, feature);
            multiply_add(sums[2 * pair], rows, keys, 0);
            multiply_add(sums[2 * pair + 1], rows, keys, 1);
        }
    }
}

/// sums = this warp's 16 rows times the columns of `matrix`; row_fragment(step) returns A for 16 of the matrix's rows.
template <int D, class RowFragment>
__device__ __forceinline__ void multiply_by_columns(const RowFragment& row_fragment, const Bf16* matrix, int steps,
                                                    Sums (&sums)[D / 8]) {
#pragma unroll
    for (int step = 0; step < key_steps; ++step) {
        if (step >= steps) break;
        const FragmentA a = row_fragment(step);
#pragma unroll
        for (int feature = 0; feature < D; feature += 16) {
            const FragmentsB b = load_b_of_columns(matrix, HeadMatrix<D>::pitch, 16 * step, feature);
            multiply_add(sums[feature / 8], a, b, 0);
            multiply_add(sums[feature / 8 + 1], a, b, 1);
        }
    }
}

/// Writes a warp's 16 rows of sums as bf16 to device memory, through `stage`, the warp's own 16 rows of shared memory.
/// @param rows number of the 16 rows that exist
template <int D>
__device__ __forceinline__ void store_rows(const Sums (&sums)[D / 8], const float (&factors)[2], Bf16* stage, Bf16* to,
                                           std::int64_t stride, int rows) {
    constexpr int pitch = HeadMatrix<D>::pitch, pieces_of_row = D / 8;
    const int g = lane() / 4, c = lane() % 4;
    __syncwarp();
#pragma unroll
    for (int t = 0; t < D / 8; ++t)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            *reinterpret_cast<unsigned*>(stage + (g + 8 * half) * pitch + 8 * t + 2 * c) =
                bf16_pair(sums[t][2 * half] * factors[half], sums[t][2 * half + 1] * factors[half]);
    __syncwarp();
#pragma unroll
    for (int piece = lane(); piece < warp_rows * pieces_of_row; piece += warp_lanes) {
        const int row = piece / pieces_of_row, column = piece % pieces_of_row * 8;
        if (row < rows)
            *reinterpret_cast<uint4*>(to + row * stride + column) = *reinterpret_cast<const uint4*>(stage + row * pitch + column);
    }
}

}  // namespace bertpretrain::cuda
