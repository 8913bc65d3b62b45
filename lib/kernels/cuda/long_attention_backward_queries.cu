// The queries' gradients of long attention. A block computes 128 queries of one head of one sequence, like the forward: keys and
// values pass through shared memory, 64 at a time, and a warp keeps its 16 queries and their gradients in registers.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_queries.h"

namespace bertpretrain::cuda {
namespace {

constexpr int part_keys = 16, part_tiles = part_keys / 8;

template <int D>
using Memory = QueriesMemory<PaddedRows<D>, 2>;

/// A warp's 16 queries: operands, and for rows g and g + 8 what a lane needs of them.
template <int D, bool drops>
struct QueriesOfWarp {
    FragmentA q[D / 16], d_context[D / 16];
    TermsOfQuery terms[2];
    unsigned kept[2];  ///< of the current 64 keys, in the order of kept_of_row

    __device__ QueriesOfWarp(const Memory<D>& memory, int block_row) {
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            q[step] = load_a(memory.q, pitch_of<D>, block_row, 16 * step);
            d_context[step] = load_a(memory.d_context, pitch_of<D>, block_row, 16 * step);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            terms[half] = memory.terms[block_row + lane() / 4 + 8 * half];
            if (!drops) terms[half].stored.along_context -= terms[half].value_bias;  // all probabilities have its bias then
        }
    }
};

/// Adds the keys [first_key, first_key + 64) to the gradients of a warp's queries, which lack the factor 1 / sqrt(D).
/// @param reach  as AttentionInputs::reach
template <int D, bool drops, KeysRead keys_read>
__device__ __forceinline__ void add_keys(const HeadOfSequence& at, const QueriesOfWarp<D, drops>& mine, float dropout_scale,
                                         const Bf16* k, const Bf16* v, int first_query, int first_key, int reach,
                                         Sums (&d_queries)[D / 8]) {
    constexpr bool whole = keys_read == KeysRead::all, windowed = keys_read == KeysRead::in_window;
    const int end = at.length - first_key, c = lane() % 4;
    const Band near = band_of(first_query, warp_rows, reach, at.length);
    const Band of_all = band_of_all(first_query, warp_rows, reach, at.length);
    const float to_exponent = rsqrtf(static_cast<float>(D)) * log2_of_e;
#pragma unroll(D == 32 ? 2 : keys_at_once / part_keys)  // no more, or registers are spilled
    for (int part = 0; part < keys_at_once / part_keys; ++part) {
        const int row = part * part_keys;
        if (!whole && row >= end) break;
        if (windowed && !overlaps(near, first_key + row, part_keys)) continue;
        Sums scores[part_tiles]{}, d[part_tiles]{};
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            const FragmentsB keys = load_b_of_rows(k, pitch_of<D>, row, 16 * step),
                             values = load_b_of_rows(v, pitch_of<D>, row, 16 * step);
#pragma unroll
            for (int t = 0; t < part_tiles; ++t) {
                multiply_add(scores[t], mine.q[step], keys, t);
                multiply_add(d[t], mine.d_context[step], values, t);
            }
        }
        if (windowed && !contains(of_all, first_key + row, part_keys)) {
#pragma unroll
            for (int t = 0; t < part_tiles; ++t)
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int key = row + 8 * t + 2 * c + i % 2;
                    if (key >= end || is_outside(first_query + lane() / 4 + 8 * (i / 2), first_key + key, reach))
                        scores[t][i] = lowest_score;
                }
        }
#pragma unroll
        for (int t = 0; t < part_tiles; ++t)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int half = i / 2, j = i % 2, tile = part * part_tiles + t;
                if (!whole && !windowed && 8 * tile + 2 * c + j >= end) scores[t][i] = lowest_score;
                const float p = exp2_fast(scores[t][i] * to_exponent - mine.terms[half].stored.log_sum_exp);
                float d_probability = d[t][i];
                if constexpr (drops)
                    d_probability = (d_probability + mine.terms[half].value_bias) *
                                    ((mine.kept[half] >> (tile + 16 * j) & 1U) != 0 ? dropout_scale : 0.0F);
                d[t][i] = p * (d_probability - mine.terms[half].stored.along_context);
            }
        const FragmentA d_scores = fragment_of(d[0], d[1]);
#pragma unroll
        for (int feature = 0; feature < D; feature += 16) {
            const FragmentsB keys = load_b_of_columns(k, pitch_of<D>, row, feature);
            multiply_add(d_queries[feature / 8], d_scores, keys, 0);
            multiply_add(d_queries[feature / 8 + 1], d_scores, keys, 1);
        }
    }
}

template <int D, bool drops, bool windowed>
__global__ void __launch_bounds__(attention_threads, blocks_on_multiprocessor(2, 1))
    queries_block(const __grid_constant__ LongAttentionBackward pass) {
    wait_for_kernel_before();
    const AttentionInputs<Bf16>& in = pass.in;
    const PartOfHead<block_queries> part(in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    auto& memory = *static_cast<Memory<D>*>(dynamic_shared_memory());
    const Band read = windowed ? band_of(part.first, block_queries, in.reach, at.length) : Band{0, at.length};
    const int begin = read.begin / keys_at_once * keys_at_once;
    const auto copy = [&](int first_key) { begin_key_copies<D, drops, windowed>(pass, part, first_key, begin, memory); };
    load_queries<D, drops, windowed>(pass, part, begin, memory);
    __syncthreads();

    QueriesOfWarp<D, drops> mine(memory, warp() * warp_rows);
    const bool has_queries = part.first + warp() * warp_rows < at.length;
    Sums d_queries[D / 8]{};
    for (int first_key = begin; first_key < read.end; first_key += keys_at_once) {
        if (first_key > begin) {
            wait_for_copies();
            __syncthreads();  // the other buffer is no longer read
        }
        if (first_key + keys_at_once < read.end) copy(first_key + keys_at_once);
        if (!has_queries) continue;
        const int first_query = part.first + warp() * warp_rows;
        if (windowed && !overlaps(band_of(first_query, warp_rows, in.reach, at.length), first_key, keys_at_once)) continue;
        if constexpr (drops) {
#pragma unroll
            for (int half = 0; half < 2; ++half)
                mine.kept[half] = kept_of_query(memory, warp() * warp_rows + lane() / 4 + 8 * half, first_key);
        }
        const int buffer = first_key / keys_at_once % 2;
        const Bf16 *const k = memory.k[buffer], *const v = memory.v[buffer];
        const auto add = [&]<KeysRead keys_read>() {
            add_keys<D, drops, keys_read>(at, mine, in.dropout.scale, k, v, first_query, first_key, in.reach, d_queries);
        };
        if constexpr (windowed) add.template operator()<KeysRead::in_window>();  // alone, or registers are spilled
        else if (first_key + keys_at_once <= at.length) add.template operator()<KeysRead::all>();
        else add.template operator()<KeysRead::existing>();
    }
    store_queries<D>(pass, d_queries, memory);
}

}  // namespace

std::optional<std::size_t> long_attention_queries_bytes(std::int64_t head_size) { return bytes_of_head<Memory>(head_size); }

void long_attention_backward_queries(const LongAttentionBackward& pass, cudaStream_t stream) {
    const dim3 grid = grid_of(pass.in.wide_tiles.count * pass.in.heads);
    with_constants(pass.in, [&]<int D, bool drops, bool windowed>() {
        launch_with_shared(queries_block<D, drops, windowed>, grid, attention_threads, sizeof(Memory<D>), stream, pass);
    });
}

}  // namespace bertpretrain::cuda
