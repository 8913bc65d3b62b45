// A block computes 128 queries of one head of one sequence, within a window 64. Keys and values pass through shared memory, 64 at
// a time, and the next ones are copied meanwhile. A warp keeps its 16 queries, their scores and their context in registers.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_softmax.h"

namespace bertpretrain::cuda {
namespace {

/// How many queries a block computes. Within a window it reads four tiles of keys or fewer, and waits for most of its time: of
/// smaller blocks, more run on a multiprocessor. On an H100 that takes 0.89 of the time.
template <bool windowed>
struct QueryBlock {
    static constexpr int rows = windowed ? narrow_tile_rows : wide_tile_rows, threads = rows / warp_rows * warp_lanes;

    static const TilesOfRows& tiles(const AttentionInputs<Bf16>& in) { return windowed ? in.narrow_tiles : in.wide_tiles; }
};

/// A block's shared memory.
template <int D, bool windowed>
struct ForwardMemory {
    static constexpr int block_queries = QueryBlock<windowed>::rows;

    Bf16 q[block_queries * pitch_of<D>];  ///< at the end: the context
    Bf16 k[2][keys_at_once * pitch_of<D>], v[2][keys_at_once * pitch_of<D>];
    float key_bias_score[block_queries];  ///< each query times the key's bias
};

/// Adds the keys [first_key, first_key + 64) to a warp's softmax and context. @param reach  as AttentionInputs::reach
template <int D, bool drops, KeysRead keys_read>
__device__ __forceinline__ void attend(const HeadOfSequence& at, const Bf16* q, const Bf16* k, const Bf16* v, int first_query,
                                       int first_key, int reach, RunningSoftmax& softmax, Sums (&context)[D / 8]) {
    constexpr FragmentsB ones{{0x3F803F80, 0x3F803F80, 0x3F803F80, 0x3F803F80}};  // bf16
    constexpr bool whole = keys_read == KeysRead::all, windowed = keys_read == KeysRead::in_window;
    const int end = at.length - first_key, g = lane() / 4, c = lane() % 4;
    const Band near = band_of(first_query, warp_rows, reach, at.length);
    const Band of_all = band_of_all(first_query, warp_rows, reach, at.length);
    Sums scores[score_tiles]{};
#pragma unroll
    for (int step = 0; step < D / 16; ++step) {
        const FragmentA queries = load_a(q, pitch_of<D>, 0, 16 * step);  // again each time: registers are scarce
#pragma unroll
        for (int pair = 0; pair < score_tiles / 2; ++pair) {
            if (!whole && 16 * pair >= end) break;
            if (windowed && !overlaps(near, first_key + 16 * pair, 16)) continue;
            const FragmentsB keys = load_b_of_rows(k, pitch_of<D>, 16 * pair, 16 * step);
            multiply_add(scores[2 * pair], queries, keys, 0);
            multiply_add(scores[2 * pair + 1], queries, keys, 1);
        }
    }
    if constexpr (!whole) {
#pragma unroll
        for (int pair = 0; pair < score_tiles / 2; ++pair) {
            if (contains(of_all, first_key + 16 * pair, 16)) continue;
#pragma unroll
            for (int t = 2 * pair; t < 2 * pair + 2; ++t)
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int key = 8 * t + 2 * c + i % 2;
                    if (key >= end || (windowed && is_outside(first_query + g + 8 * (i / 2), first_key + key, reach)))
                        scores[t][i] = lowest_score;
                }
        }
    }
    const float to_exponent = rsqrtf(static_cast<float>(D)) * log2_of_e;
    raise_references<D>(scores, to_exponent, softmax, context);
    const float shift[2] = {softmax.reference[0] * to_exponent, softmax.reference[1] * to_exponent};
#pragma unroll
    for (int pair = 0; pair < score_tiles / 2; ++pair) {
        if (windowed && !overlaps(near, first_key + 16 * pair, 16)) continue;
#pragma unroll
        for (int t = 2 * pair; t < 2 * pair + 2; ++t)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                scores[t][i] = exp2_fast(scores[t][i] * to_exponent - shift[i / 2]);
                softmax.sum[i / 2] += scores[t][i];
            }
    }
#pragma unroll
    for (int step = 0; step < keys_at_once / 16; ++step) {
        if (!whole && 16 * step >= end) break;
        if (windowed && !overlaps(near, first_key + 16 * step, 16)) continue;
        FragmentA probabilities = fragment_of(scores[2 * step], scores[2 * step + 1]);
        if constexpr (drops) {
#pragma unroll
            for (int i = 0; i < 4; ++i) probabilities.at[i] &= half_word_masks(softmax.kept[i % 2] << (15 - (2 * step + i / 2)));
            multiply_add(softmax.kept_sum, probabilities, ones, 0);
        }
#pragma unroll
        for (int feature = 0; feature < D; feature += 16) {
            const FragmentsB values = load_b_of_columns(v, pitch_of<D>, 16 * step, feature);
            multiply_add(context[feature / 8], probabilities, values, 0);
            multiply_add(context[feature / 8 + 1], probabilities, values, 1);
        }
    }
}

template <int D, bool drops, bool windowed>
__global__ void __launch_bounds__(QueryBlock<windowed>::threads, windowed ? 4 : 2)
    forward_block(const __grid_constant__ LongAttentionForward pass) {
    wait_for_kernel_before();
    const AttentionInputs<Bf16>& in = pass.in;
    using Block = QueryBlock<windowed>;
    constexpr int block_queries = Block::rows, threads = Block::threads;
    const PartOfHead<block_queries> part(in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(in.heads) * D, column = at.head * D;
    const Bf16* const keys = in.qkv_T3H + at.first_row * 3 * H + H + column;
    auto& memory = *static_cast<ForwardMemory<D, windowed>*>(dynamic_shared_memory());
    const auto copy = [&](int first_key) {
        const int buffer = first_key / keys_at_once % 2;
        copy_rows_async<D, keys_at_once, threads>(memory.k[buffer], keys, 3 * H, first_key, at.length);
        copy_rows_async<D, keys_at_once, threads>(memory.v[buffer], keys + H, 3 * H, first_key, at.length);
    };
    copy_rows_async<D, block_queries, threads>(memory.q, keys - H, 3 * H, part.first, at.length);
    const Band read = windowed ? band_of(part.first, block_queries, in.reach, at.length) : Band{0, at.length};
    const int begin = read.begin / keys_at_once * keys_at_once;
    copy(begin);
    wait_for_copies();
    finish_queries<D, block_queries, threads>(in, at, part.first, memory.q, memory.key_bias_score);
    __syncthreads();

    const int block_row = warp() * warp_rows, first_query = part.first + block_row;
    Bf16* const q = memory.q + block_row * pitch_of<D>;  // the warp's own rows
    RunningSoftmax softmax(windowed);
    Sums context[D / 8]{};
    for (int first_key = begin; first_key < read.end; first_key += keys_at_once) {
        if (first_key > begin) {
            wait_for_copies();
            __syncthreads();  // the other buffer is no longer read
        }
        if (first_key + keys_at_once < read.end) copy(first_key + keys_at_once);
        if (first_query >= at.length) continue;
        const Band near = band_of(first_query, warp_rows, in.reach, at.length);
        if (windowed && !overlaps(near, first_key, keys_at_once)) continue;
        if constexpr (drops) {
            const bool is_first = windowed && first_key <= near.begin, begins_group = first_key % keys_of_kept == 0;
            if (begins_group || is_first)
                draw_kept<windowed>(pass, at, first_query, first_key / keys_of_kept * keys_of_kept, softmax);
            if (!begins_group) softmax.kept[0] >>= score_tiles, softmax.kept[1] >>= score_tiles;
        }
        const int buffer = first_key / keys_at_once % 2;
        const Bf16 *const k = memory.k[buffer], *const v = memory.v[buffer];
        const auto add = [&]<KeysRead keys_read>() {
            attend<D, drops, keys_read>(at, q, k, v, first_query, first_key, in.reach, softmax, context);
        };
        if constexpr (windowed) add.template operator()<KeysRead::in_window>();
        else if (first_key + keys_at_once <= at.length) add.template operator()<KeysRead::all>();
        else add.template operator()<KeysRead::existing>();
    }
    if (first_query >= at.length) return;

    store_context<D, drops>(pass, at, part.first, softmax, context, memory.q, memory.key_bias_score);
}

template <int D>
using WholeForwardMemory = ForwardMemory<D, false>;  // without a window a block needs more

}  // namespace

std::optional<std::size_t> long_attention_forward_bytes(std::int64_t head_size) {
    return bytes_of_head<WholeForwardMemory>(head_size);
}

void long_attention_forward(const LongAttentionForward& pass, cudaStream_t stream) {
    with_constants(pass.in, [&]<int D, bool drops, bool windowed>() {
        using Block = QueryBlock<windowed>;
        launch_with_shared(forward_block<D, drops, windowed>, grid_of(Block::tiles(pass.in).count * pass.in.heads),
                           Block::threads, sizeof(ForwardMemory<D, windowed>), stream, pass);
    });
}

}  // namespace bertpretrain::cuda
