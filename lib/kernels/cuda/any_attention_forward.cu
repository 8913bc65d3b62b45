// All scores of 32 queries stay in shared memory between the two matmuls.
#include "kernels/cuda/any_attention_block.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

__device__ inline float warp_largest(float value) {
    for (int apart = warp_lanes / 2; apart > 0; apart /= 2) value = fmaxf(value, __shfl_xor_sync(all_lanes, value, apart));
    return value;
}

/// Replaces the scores of a query with the keys of `read` by probabilities times dropout factors; those with other keys are not
/// there. @returns the log of the sum of exponentials
__device__ float normalize_row(const AttentionDropout& dropout, const TileOfHead& at, int query, int reach, const Band& read,
                               float* scores) {
    constexpr float lowest = -3e38F;
    const Band keys = band_of(query, 1, reach, at.length);
    float largest = lowest, sum = 0;
    for (int key = read.begin + lane(); key < keys.end; key += warp_lanes)
        if (key >= keys.begin) largest = fmaxf(largest, scores[key]);
    largest = warp_largest(largest);
    for (int key = read.begin + lane(); key < keys.end; key += warp_lanes)
        if (key >= keys.begin) sum += expf(scores[key] - largest);
    sum = warp_sum(sum);
    for (int key = read.begin + lane(); key < read.end; key += warp_lanes)
        scores[key] = key >= keys.begin && key < keys.end
                          ? expf(scores[key] - largest) / sum * dropout_factor(dropout, at, query, key)
                          : 0.0F;
    return largest + logf(sum);
}

template <class W>
__global__ void forward_tile(const __grid_constant__ AnyAttentionForward<W> pass) {
    wait_for_kernel_before();
    const AttentionInputs<W>& in = pass.in;
    const TileOfHead at(in);
    if (at.first_row >= at.length) return;
    const int columns = (at.length + tile_rows - 1) / tile_rows * tile_rows;
    const Band read = at.read(in.reach);
    float *const queries = static_cast<float*>(dynamic_shared_memory()), *const tile = queries + at.tile_elements();
    float* const scores = tile + at.tile_elements() + warp() * rows_of_warp * columns;  // rows of this warp's queries
    load_part(in, at, 0, at.first_row, queries);
    for (int first = read.begin; first < read.end; first += tile_rows) {
        __syncthreads();
        load_part(in, at, 1, first, tile);
        __syncthreads();
        for (int i = 0; i < rows_of_warp; ++i)
            scores[i * columns + first + lane()] =
                at.scale() * dot(queries + (warp() * rows_of_warp + i) * at.pitch(), tile + lane() * at.pitch(), at.D);
    }
    __syncwarp();
    for (int i = 0; i < rows_of_warp; ++i) {
        const int query = at.first_row + warp() * rows_of_warp + i;
        const float log_sum = normalize_row(in.dropout, at, query, in.reach, read, scores + i * columns);
        if (lane() == 0 && query < at.length) pass.log_sum_exp_NT[at.head * in.rows + at.first_token + query] = log_sum;
    }
    RowSums context;
    for (int first = read.begin; first < read.end; first += tile_rows) {
        __syncthreads();
        load_part(in, at, 2, first, tile);
        __syncthreads();
        context.add(scores + first, columns, tile, at);
    }
    context.put(pass.context_TH + at.head * at.D, in.heads * at.D, at);
}

}  // namespace

std::size_t any_attention_forward_bytes(std::int64_t longest, std::int64_t head_size) {
    const std::int64_t floats = 2 * tile_rows * (head_size + 1) + tile_rows * ceil_div(longest, tile_rows) * tile_rows;
    return static_cast<std::size_t>(floats) * sizeof(float);
}

template <class W>
void any_attention_forward(const AnyAttentionForward<W>& pass, cudaStream_t stream) {
    launch_with_shared(forward_tile<W>, grid_of(pass.in.narrow_tiles.count * pass.in.heads, narrow_tile_rows / tile_rows),
                       tile_threads, any_attention_forward_bytes(pass.in.longest, pass.in.head_size), stream, pass);
}
template void any_attention_forward(const AnyAttentionForward<float>&, cudaStream_t);
template void any_attention_forward(const AnyAttentionForward<Bf16>&, cudaStream_t);

}  // namespace bertpretrain::cuda
