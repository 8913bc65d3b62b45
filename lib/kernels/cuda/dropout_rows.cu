#include "kernels/cuda/dropout_factors.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm.h"

namespace bertpretrain::cuda {
namespace {

template <bool quads>
__global__ void drop_rows(const float* x, float* y, std::int64_t width, const RowDropout dropout) {
    const std::int64_t row = blockIdx.x, first = warp() * warp_columns;
    Eight values = load_eight<quads>(x + row * width, first, width);
    apply_dropout(kept_of_eight(dropout, row, first), dropout.scale, values);
    store_eight<quads>(y + row * width, first, width, values);
}

}  // namespace

void dropout_rows(const float* x, float* y, std::int64_t rows, std::int64_t width, const RowDropout& dropout, bool quads,
                  cudaStream_t stream) {
    launch(quads ? drop_rows<true> : drop_rows<false>, grid_of(rows), row_threads(width), stream, x, y, width, dropout);
}

}  // namespace bertpretrain::cuda
