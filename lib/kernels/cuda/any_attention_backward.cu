// Scores are recomputed twice: by blocks of 32 queries for the queries' gradient, and by blocks of 32 keys for the keys' and
// values' gradients. So every sum has a fixed order.
#include "kernels/cuda/any_attention_block.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr int weight_pitch = tile_rows;  ///< of a warp's rows of probabilities or score gradients, one tile wide

/// Per-query values of 32 queries that the backward needs besides their rows.
struct QueryFacts {
    float *log_sum_exp, *along_context;  ///< in shared memory; the second is the row sum of d_context times context

    template <class W>
    __device__ void load(const AnyAttentionBackward<W>& pass, const TileOfHead& at, int first) const {
        const std::int64_t H = pass.in.heads * at.D;
        for (int i = 0; i < rows_of_warp; ++i) {
            const int row = warp() * rows_of_warp + i;
            const bool exists = first + row < at.length;
            float along = 0;
            for (int d = lane(); exists && d < at.D; d += warp_lanes) {
                const std::int64_t place = (at.first_token + first + row) * H + at.head * at.D + d;
                along += to_float(pass.context_TH[place]) * to_float(pass.d_context_TH[place]);
            }
            along = warp_sum(along);
            if (lane() > 0) continue;
            along_context[row] = along;
            log_sum_exp[row] = exists ? pass.log_sum_exp_NT[at.head * pass.in.rows + at.first_token + first + row] : 0.0F;
        }
    }
};

struct Weights {
    float probability, d_score;  ///< the probability after dropout
};

/// Computes the weights of one (query, key); zeros if either does not exist, or the key is outside the window.
template <class W>
__device__ Weights weights_of(const AttentionInputs<W>& in, const TileOfHead& at, int query, int key, float score, float d,
                              float log_sum_exp, float along_context) {
    if (query >= at.length || key >= at.length || is_outside(query, key, in.reach)) return {0, 0};
    const float factor = dropout_factor(in.dropout, at, query, key), p = expf(score * at.scale() - log_sum_exp);
    return {p * factor, p * (factor * d - along_context) * at.scale()};
}

/// The tiles of a block, consecutive in shared memory.
struct BackwardTiles {
    float *own_a, *own_b, *other_a, *other_b, *weights;  ///< weights: two kinds for this warp's rows
    QueryFacts queries;

    __device__ explicit BackwardTiles(const TileOfHead& at) {
        own_a = static_cast<float*>(dynamic_shared_memory());
        own_b = own_a + at.tile_elements(), other_a = own_b + at.tile_elements(), other_b = other_a + at.tile_elements();
        float* const facts = other_b + at.tile_elements();
        queries = {facts, facts + tile_rows};
        weights = facts + 2 * tile_rows + warp() * 2 * rows_of_warp * weight_pitch;
    }
    static std::size_t bytes(std::int64_t D) {
        return static_cast<std::size_t>(4 * tile_rows * (D + 1) + 2 * tile_rows + 2 * tile_rows * weight_pitch) * sizeof(float);
    }
};

template <class W>
__device__ void load_d_context(const AnyAttentionBackward<W>& pass, const TileOfHead& at, int first, float* tile) {
    load_tile(at, pass.d_context_TH + at.head * at.D, pass.in.heads * at.D, nullptr, first, tile);
}

template <class W>
__global__ void queries_tile(const __grid_constant__ AnyAttentionBackward<W> pass) {
    wait_for_kernel_before();
    const AttentionInputs<W>& in = pass.in;
    const TileOfHead at(in);
    if (at.first_row >= at.length) return;
    const BackwardTiles tiles(at);
    load_part(in, at, 0, at.first_row, tiles.own_a);
    load_d_context(pass, at, at.first_row, tiles.own_b);
    tiles.queries.load(pass, at, at.first_row);
    RowSums d_queries;
    const Band read = at.read(in.reach);
    for (int first = read.begin; first < read.end; first += tile_rows) {
        __syncthreads();
        load_part(in, at, 1, first, tiles.other_a);
        load_part(in, at, 2, first, tiles.other_b);
        __syncthreads();
        for (int i = 0; i < rows_of_warp; ++i) {
            const int row = warp() * rows_of_warp + i, other = lane() * at.pitch();
            tiles.weights[i * weight_pitch + lane()] =
                weights_of(in, at, at.first_row + row, first + lane(),
                           dot(tiles.own_a + row * at.pitch(), tiles.other_a + other, at.D),
                           dot(tiles.own_b + row * at.pitch(), tiles.other_b + other, at.D), tiles.queries.log_sum_exp[row],
                           tiles.queries.along_context[row])
                    .d_score;
        }
        __syncwarp();
        d_queries.add(tiles.weights, weight_pitch, tiles.other_a, at);
    }
    d_queries.put(pass.d_qkv_T3H + at.head * at.D, 3 * in.heads * at.D, at);
}

template <class W>
__global__ void keys_tile(const __grid_constant__ AnyAttentionBackward<W> pass) {
    wait_for_kernel_before();
    const AttentionInputs<W>& in = pass.in;
    const TileOfHead at(in);
    if (at.first_row >= at.length) return;
    const BackwardTiles tiles(at);
    float *const probabilities = tiles.weights, *const d_scores = tiles.weights + rows_of_warp * weight_pitch;
    load_part(in, at, 1, at.first_row, tiles.own_a);
    load_part(in, at, 2, at.first_row, tiles.own_b);
    RowSums d_keys, d_values;
    const Band read = at.read(in.reach);
    for (int first = read.begin; first < read.end; first += tile_rows) {
        __syncthreads();
        load_part(in, at, 0, first, tiles.other_a);
        load_d_context(pass, at, first, tiles.other_b);
        tiles.queries.load(pass, at, first);
        __syncthreads();
        for (int i = 0; i < rows_of_warp; ++i) {
            const int row = warp() * rows_of_warp + i, other = lane() * at.pitch();
            const Weights of = weights_of(in, at, first + lane(), at.first_row + row,
                                          dot(tiles.own_a + row * at.pitch(), tiles.other_a + other, at.D),
                                          dot(tiles.own_b + row * at.pitch(), tiles.other_b + other, at.D),
                                          tiles.queries.log_sum_exp[lane()], tiles.queries.along_context[lane()]);
            probabilities[i * weight_pitch + lane()] = of.probability;
            d_scores[i * weight_pitch + lane()] = of.d_score;
        }
        __syncwarp();
        d_keys.add(d_scores, weight_pitch, tiles.other_a, at);
        d_values.add(probabilities, weight_pitch, tiles.other_b, at);
    }
    const std::int64_t H = in.heads * at.D;
    d_keys.put(pass.d_qkv_T3H + H + at.head * at.D, 3 * H, at);
    d_values.put(pass.d_qkv_T3H + 2 * H + at.head * at.D, 3 * H, at);
}

}  // namespace

std::size_t any_attention_backward_bytes(std::int64_t head_size) { return BackwardTiles::bytes(head_size); }

template <class W>
void any_attention_backward(const AnyAttentionBackward<W>& pass, cudaStream_t stream) {
    const dim3 grid = grid_of(pass.in.narrow_tiles.count * pass.in.heads, narrow_tile_rows / tile_rows);
    for (const auto kernel : {queries_tile<W>, keys_tile<W>})
        launch_with_shared(kernel, grid, tile_threads, BackwardTiles::bytes(pass.in.head_size), stream, pass);
}
template void any_attention_backward(const AnyAttentionBackward<float>&, cudaStream_t);
template void any_attention_backward(const AnyAttentionBackward<Bf16>&, cudaStream_t);

}  // namespace bertpretrain::cuda
