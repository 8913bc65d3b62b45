#include "kernels/cuda/embedding.h"
#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t warps_per_block = 4;

template <bool quads, class W>
__device__ __forceinline__ void add_row(const W* row, std::int64_t first, std::int64_t width, Eight& sum) {
    const Eight values = load_eight<quads>(row, first, width);
    for (int i = 0; i < 8; ++i) sum[i] += values[i];
}

template <class W, bool quads>
__global__ void sum_rows(const EmbeddingSum<W> pass) {
    const std::int64_t token = blockIdx.x, first = (blockIdx.y * warps_per_block + warp()) * warp_columns, width = pass.width;
    Eight sum = load_eight<quads>(pass.word + pass.ids[token] * width, first, width);
    if (pass.position != nullptr) add_row<quads>(pass.position + pass.positions[token] * width, first, width, sum);
    if (pass.type != nullptr) add_row<quads>(pass.type + pass.types[token] * width, first, width, sum);
    store_eight<quads>(pass.sum + token * width, first, width, sum);
}

}  // namespace

template <class W>
void embedding_sum(const EmbeddingSum<W>& pass, bool quads, cudaStream_t stream) {
    launch(quads ? sum_rows<W, true> : sum_rows<W, false>,
           grid_of(pass.tokens, ceil_div(pass.width, warps_per_block * warp_columns)), warps_per_block * warp_lanes, stream,
           pass);
}
template void embedding_sum(const EmbeddingSum<float>&, bool, cudaStream_t);
template void embedding_sum(const EmbeddingSum<Bf16>&, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
