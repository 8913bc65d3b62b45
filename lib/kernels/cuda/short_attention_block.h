#pragma once
// Shared by the forward and backward of short attention. Each of a block's 8 warps has 16 queries.

#include <cstddef>

#include "kernels/cuda/attention_block.h"
#include "kernels/cuda/short_attention.h"

namespace bertpretrain::cuda {

constexpr int key_steps = longest_short_sequence / 16;
constexpr float lowest_score = -3e38F;

/// Returns where this lane's 32 probabilities of a query lie among the kept ones.
__device__ __forceinline__ std::int64_t kept_word(const ShortAttention& in, const HeadOfSequence& at, int query) {
    return (at.head * in.rows + at.first_row + query) * kept_words + lane() % 4;
}

/// The 128 x D matrices of one head.
template <int D>
struct HeadMatrix {
    static constexpr int pitch = pitch_of<D>, elements = longest_short_sequence * pitch;
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
        __device__ __forceinline__ float element(int i, int e) const { return element_of(at[i], e); }
        __device__ __forceinline__ void put(Bf16* matrix) const {
#pragma unroll
            for (int i = 0; i < pieces; ++i) *reinterpret_cast<uint4*>(matrix + row(i) * pitch + column()) = at[i];
        }
        /// Adds the bias of the head's D columns to the sequence's rows, then writes like put().
        __device__ __forceinline__ void put_biased(Bf16* matrix, const float* bias, int length) {
            float b[8];
            load_eight_floats(bias + column(), b);
#pragma unroll
            for (int i = 0; i < pieces; ++i)
                if (row(i) < length) at[i] = with_bias(at[i], b);
            put(matrix);
        }
    };
};

constexpr int sector_bytes = 32;  ///< what the L2 cache reads at a time

/// Asks for the sector at `from` to be brought to the L2 cache: a hint.
__device__ __forceinline__ void bring_to_cache(const void* from) {
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(from)));
#else
    cuda_emulator::brought_to_cache.insert(from);
#endif
}

/// Brings a head's rows to the L2 cache. @param from row 0; rows are `stride` elements apart
template <int D>
__device__ __forceinline__ void bring_rows_to_cache(const Bf16* from, std::int64_t stride, int length) {
    constexpr int of_sector = sector_bytes / sizeof(Bf16), sectors = D / of_sector, rows_at_once = attention_threads / sectors;
    const auto thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int first = 0; first < longest_short_sequence; first += rows_at_once)
        if (const int row = first + thread / sectors; row < length)
            bring_to_cache(from + row * stride + thread % sectors * of_sector);
}

/// Brings to the L2 cache what block `block` of the grid reads of qkv and of `others`, if there is such a block. A block loads
/// all of its inputs, and then computes. So that device memory does not rest meanwhile, each does this for one that begins later:
/// as many blocks as there are multiprocessors, each of which has two at a time or one.
template <int D, class... Matrices>
__device__ __forceinline__ void bring_inputs_to_cache(const ShortAttention& in, unsigned block, const Matrices*... others_TH) {
    if (block >= gridDim.x) return;
    const HeadOfSequence at(in, block);
    const std::int64_t H = in.heads * D, column = at.head * D;
#pragma unroll
    for (int third = 0; third < 3; ++third)
        bring_rows_to_cache<D>(in.qkv_T3H + (at.first_row * 3 + third) * H + column, 3 * H, at.length);
    (bring_rows_to_cache<D>(others_TH + at.first_row * H + column, H, at.length), ...);
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

}  // namespace bertpretrain::cuda
