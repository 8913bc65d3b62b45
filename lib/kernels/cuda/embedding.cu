// In the scatter, no two blocks add to the same row of the table, and every row is summed in token order. A block sums its chunk
// of the sorted tokens and adds the rows that begin and end in the chunk. For rows that cross chunk boundaries it writes pieces,
// which the second kernel adds in chunk order, one block per row.
#include "kernels/cuda/embedding.h"
#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t warps_per_block = 4;

__device__ __forceinline__ std::int64_t first_column() { return (blockIdx.y * warps_per_block + warp()) * warp_columns; }

__device__ __forceinline__ void add(Eight& sum, const Eight& other) {
    for (int i = 0; i < 8; ++i) sum[i] += other[i];
}

template <class W, bool quads>
__global__ void sum_rows(const EmbeddingSum<W> pass) {
    wait_for_kernel_before();
    const std::int64_t token = blockIdx.x, first = first_column(), width = pass.width;
    Eight sum = load_eight<quads>(pass.word + pass.ids[token] * width, first, width);
    if (pass.position != nullptr) add(sum, load_eight<quads>(pass.position + pass.positions[token] * width, first, width));
    if (pass.type != nullptr) add(sum, load_eight<quads>(pass.type + pass.types[token] * width, first, width));
    store_eight<quads>(pass.sum + token * width, first, width, sum);
}

/// A block's part of the sorted tokens.
struct Chunk {
    std::int64_t begin, end;
    bool first_began_before;  ///< its first row began in an earlier chunk
    bool last_goes_on;        ///< its last row continues in the next chunk

    __device__ Chunk(const EmbeddingScatter& pass, std::int64_t number, std::int64_t chunk_tokens)
        : begin(number * chunk_tokens),
          end(begin + chunk_tokens < pass.tokens ? begin + chunk_tokens : pass.tokens),
          first_began_before(begin > 0 && pass.indices[begin - 1] == pass.indices[begin]),
          last_goes_on(end < pass.tokens && pass.indices[end - 1] == pass.indices[end]) {}
};

template <bool quads>
__device__ __forceinline__ void add_to_row(float* row, std::int64_t first, std::int64_t width, const Eight& sum) {
    Eight total = load_eight<quads>(row, first, width);
    add(total, sum);
    store_eight<quads>(row, first, width, total);
}

template <bool quads>
__global__ void sum_chunks(const EmbeddingScatter pass, std::int64_t chunk_tokens) {
    wait_for_kernel_before();
    const std::int64_t first = first_column(), width = pass.width, number = blockIdx.x;
    const Chunk chunk(pass, number, chunk_tokens);
    Eight sum{};
    bool began_before = chunk.first_began_before;
    for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
        add(sum, load_eight<quads>(pass.d_sum + pass.order[i] * width, first, width));
        const bool last = i + 1 == chunk.end;
        if (!last && pass.indices[i + 1] == pass.indices[i]) continue;
        if (began_before) store_eight<quads>(pass.pieces + 2 * number * width, first, width, sum);
        else if (last && chunk.last_goes_on) store_eight<quads>(pass.pieces + (2 * number + 1) * width, first, width, sum);
        else add_to_row<quads>(pass.d_table + pass.indices[i] * width, first, width, sum);
        sum = Eight{};
        began_before = false;
    }
}

template <bool quads>
__global__ void join_pieces(const EmbeddingScatter pass, std::int64_t chunk_tokens) {
    wait_for_kernel_before();
    const std::int64_t first = first_column(), width = pass.width;
    std::int64_t number = blockIdx.x;
    const Chunk chunk(pass, number, chunk_tokens);
    const std::int64_t index = pass.indices[chunk.end - 1];
    // A row that crosses chunks is joined by the block of the chunk in which it begins.
    if (!chunk.last_goes_on || (chunk.first_began_before && pass.indices[chunk.begin] == index)) return;
    Eight sum = load_eight<quads>(pass.pieces + (2 * number + 1) * width, first, width);
    for (bool more = true; more;) {
        const Chunk next(pass, ++number, chunk_tokens);
        add(sum, load_eight<quads>(pass.pieces + 2 * number * width, first, width));
        more = next.last_goes_on && pass.indices[next.end - 1] == index;
    }
    add_to_row<quads>(pass.d_table + index * width, first, width, sum);
}

/// @param rows of blocks, each of which has all columns
dim3 grid_for(std::int64_t rows, std::int64_t width) { return grid_of(rows, ceil_div(width, warps_per_block * warp_columns)); }

}  // namespace

template <class W>
void embedding_sum(const EmbeddingSum<W>& pass, bool quads, cudaStream_t stream) {
    launch(quads ? sum_rows<W, true> : sum_rows<W, false>, grid_for(pass.tokens, pass.width), warps_per_block * warp_lanes,
           stream, pass);
}
template void embedding_sum(const EmbeddingSum<float>&, bool, cudaStream_t);
template void embedding_sum(const EmbeddingSum<Bf16>&, bool, cudaStream_t);

void embedding_scatter(const EmbeddingScatter& pass, bool quads, cudaStream_t stream) {
    const std::int64_t chunk_tokens = tokens_per_chunk(pass.tokens);
    const dim3 grid = grid_for(ceil_div(pass.tokens, chunk_tokens), pass.width);
    for (const auto kernel : {quads ? sum_chunks<true> : sum_chunks<false>, quads ? join_pieces<true> : join_pieces<false>})
        launch(kernel, grid, warps_per_block * warp_lanes, stream, pass, chunk_tokens);
}

}  // namespace bertpretrain::cuda
