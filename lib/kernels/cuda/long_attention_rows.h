#pragma once
// Copies of rows of one head between device memory and shared memory, for long attention. Those to shared memory run while their
// thread goes on. The emulator of the tests makes them only when the thread waits for them.

#include "kernels/cuda/attention_block.h"
#include "kernels/cuda/long_attention.h"

namespace bertpretrain::cuda {

/// Begins to copy `bytes` (8 or 16), or to write as many zero bytes if `exists` is false; `from` must be a valid address in both
/// cases. Both addresses must be aligned to `bytes`.
template <int bytes = 16>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool exists) {
    static_assert(bytes == 8 || bytes == 16);
#ifdef __CUDACC__
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int read = exists ? bytes : 0;
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(from), "r"(read) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" : : "r"(address), "l"(from), "r"(read) : "memory");
#else
    cuda_emulator::copy_async(to, exists ? from : nullptr, bytes);
#endif
}

/// Waits for all copies of this thread. Other threads see them after the next __syncthreads().
__device__ __forceinline__ void wait_for_copies() {
#ifdef __CUDACC__
    asm volatile("cp.async.wait_all;" : : : "memory");
#else
    cuda_emulator::wait_for_copies();
#endif
}

/// How many blocks of a kernel a multiprocessor is to hold, for __launch_bounds__: fewer where it has 100 KB of shared memory
/// (compute capability 8.6, 8.9, 12.x) instead of 164 KB or more. The threads may then use more registers; on 12.x they would be
/// spilled.
constexpr int blocks_on_multiprocessor(int usually, int in_100_kb) {
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
    return usually > in_100_kb ? in_100_kb : usually;
#else
    static_cast<void>(in_100_kb);
    return usually;
#endif
}

/// Rotates a warp's 16 rows of gradients back, if queries and keys were rotated. Features j and j + D/2 are in the same lane.
/// @param first_token  of the 16 rows @param rows  number of them that exist
template <int D>
__device__ __forceinline__ void rotate_back(const LongAttentionBackward& pass, std::int64_t first_token, int rows,
                                            Sums (&d)[D / 8]) {
    const float* const angles_PD = pass.angles_PD;
    if (angles_PD == nullptr || rows <= 0) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = lane() / 4 + 8 * half, existing = row < rows ? row : 0;  // without branches, or sm_80 spills registers
        const float* const angles = angles_PD + pass.positions_T[first_token + existing] * D + 2 * (lane() % 4);
#pragma unroll
        for (int t = 0; t < D / 16; ++t) {
            const float2 cosine = *reinterpret_cast<const float2*>(angles + 8 * t),
                         sine = *reinterpret_cast<const float2*>(angles + 8 * t + D / 2);
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const float low = d[t][2 * half + j], high = d[t + D / 16][2 * half + j];
                d[t][2 * half + j] = low * (j == 0 ? cosine.x : cosine.y) + high * (j == 0 ? sine.x : sine.y);
                d[t + D / 16][2 * half + j] = high * (j == 0 ? cosine.x : cosine.y) - low * (j == 0 ? sine.x : sine.y);
            }
        }
    }
}

/// The score of a key that a query does not attend to: its probability is 0.
constexpr float lowest_score = -3e38F;

/// Which of 64 keys a warp computes: all, those that exist, or those that exist and that one of its queries attends to.
enum class KeysRead { all, existing, in_window };

/// How a block's threads divide rows of D features: each has 16 bytes of every `at_once`-th row.
template <int D, int threads = attention_threads>
struct RowPieces {
    static constexpr int of_row = D / 8, at_once = threads / of_row;

    __device__ static int column() { return static_cast<int>(threadIdx.x) % of_row * 8; }
    __device__ static int first_row() { return static_cast<int>(threadIdx.x) / of_row; }
};

/// Begins to copy rows [first, first + count) to `matrix`; rows from `length` on become zeros.
/// @param from  row 0 in device memory; rows are `stride` elements apart
template <int D, int count, int threads = attention_threads, class Rows = PaddedRows<D>>
__device__ __forceinline__ void copy_rows_async(Bf16* matrix, const Bf16* from, int stride, int first, int length) {
    using Pieces = RowPieces<D, threads>;
#pragma unroll
    for (int i = 0; i < count / Pieces::at_once; ++i) {
        const int row = Pieces::first_row() + i * Pieces::at_once;
        const bool exists = first + row < length;
        copy_async(matrix + Rows::at(row, Pieces::column()), from + (exists ? first + row : 0) * stride + Pieces::column(),
                   exists);
    }
}

/// Adds the bias of the head's D columns to rows that copy_rows_async() has copied, once the thread has waited for its copies.
template <int D, int count, int threads = attention_threads, class Rows = PaddedRows<D>>
__device__ __forceinline__ void add_bias(Bf16* matrix, const float* bias, int first, int length) {
    using Pieces = RowPieces<D, threads>;
    float b[8];
    load_eight_floats(bias + Pieces::column(), b);
#pragma unroll
    for (int i = 0; i < count / Pieces::at_once; ++i) {
        const int row = Pieces::first_row() + i * Pieces::at_once;
        auto* const piece = reinterpret_cast<uint4*>(matrix + Rows::at(row, Pieces::column()));
        if (first + row < length) *piece = with_bias(*piece, b);
    }
}

/// Returns the first group of 128 keys of which masks are kept for the 128 queries that `query` is one of.
__device__ __forceinline__ int first_kept_group(const KeptMasks& kept, const AttentionInputs<Bf16>& in, int query) {
    const int last = (static_cast<int>(in.longest) + keys_of_kept - 1) / keys_of_kept - kept.groups,
              first = query / keys_of_kept - (in.reach + keys_of_kept - 1) / keys_of_kept;
    return first < 0 ? 0 : first < last ? first : last;
}

/// Returns where the masks of 128 queries and 128 keys lie, for row 0. @param query, key  one of them
template <bool windowed>
__device__ __forceinline__ unsigned* kept_of_rows(const KeptMasks& kept, const AttentionInputs<Bf16>& in, int head, int query,
                                                  int key) {
    const int group = key / keys_of_kept - (windowed ? first_kept_group(kept, in, query) : 0);
    return kept.words_NGT4 + (static_cast<std::int64_t>(head) * kept.groups + group) * in.rows * kept_words;
}

/// Sum over the lanes that hold one row's pieces.
template <int D>
__device__ __forceinline__ float sum_over_row(float value) {
#pragma unroll
    for (int apart = RowPieces<D>::of_row / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(all_lanes, value, apart);
    return value;
}

/// Puts the sums over a warp's 16 rows, of which the first `rows` exist, into column_sums.
template <int D>
__device__ __forceinline__ void put_column_sums(const Sums (&sums)[D / 8], int rows, float factor, float* column_sums) {
    const int g = lane() / 4;
#pragma unroll
    for (int t = 0; t < D / 8; ++t)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            float sum = (g < rows ? sums[t][j] : 0.0F) + (g + 8 < rows ? sums[t][2 + j] : 0.0F);
#pragma unroll
            for (int apart = 4; apart < warp_lanes; apart *= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
            if (g == 0) column_sums[8 * t + 2 * lane() + j] = sum * factor;
        }
}

/// Writes to `to` the column sums of all warps, added in order; a barrier must precede it. The threads below D do so.
template <int D>
__device__ __forceinline__ void store_column_sums(const float* column_sums, int warps, float* to) {
    if (threadIdx.x >= D) return;
    float sum = 0;
    for (int w = 0; w < warps; ++w) sum += column_sums[w * D + static_cast<int>(threadIdx.x)];
    to[threadIdx.x] = sum;
}

/// Returns the size of a kernel's shared memory for heads of this size; nothing if with_constants() does not know them.
template <template <int> class Memory>
std::optional<std::size_t> bytes_of_head(std::int64_t head_size) {
    if (head_size == 32) return sizeof(Memory<32>);
    if (head_size == 64) return sizeof(Memory<64>);
    return std::nullopt;
}

/// Calls body.operator()<D, drops, windowed>() for the pass's head size, and for whether it has dropout and a window.
template <class Body>
void with_constants(const AttentionInputs<Bf16>& in, const Body& body) {
    const auto with_size = [&]<bool drops, bool windowed>() {
        in.head_size == 32 ? body.template operator()<32, drops, windowed>() : body.template operator()<64, drops, windowed>();
    };
    const auto with_dropout = [&]<bool windowed>() {
        in.dropout.threshold > 0 ? with_size.template operator()<true, windowed>()
                                 : with_size.template operator()<false, windowed>();
    };
    in.has_window ? with_dropout.template operator()<true>() : with_dropout.template operator()<false>();
}

}  // namespace bertpretrain::cuda
