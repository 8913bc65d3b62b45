// One chunk of rows per block. A thread keeps its eight columns, and with them their sums over the chunk's rows.
#include "kernels/cuda/block_sums.h"
#include "kernels/cuda/dropout_factors.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm.h"

namespace bertpretrain::cuda {
namespace {

template <bool quads, class W>
__device__ __forceinline__ Eight gradient_of_normed(const NormBackward<W>& pass, std::int64_t begin, std::int64_t first) {
    Eight dy{};
    if (pass.d_normed != nullptr) dy = load_eight<quads>(pass.d_normed + begin, first, pass.width);
    if (pass.d_normed_exact != nullptr) {
        const Eight exact = load_eight<quads>(pass.d_normed_exact + begin, first, pass.width);
        for (int i = 0; i < 8; ++i) dy[i] += exact[i];
    }
    return dy;
}

template <class W, bool quads>
__global__ void __launch_bounds__(512) norm_backward_rows(const NormBackward<W> pass, std::int64_t chunk_rows) {
    const std::int64_t width = pass.width, first = warp() * warp_columns, chunk = blockIdx.x;
    const std::int64_t first_row = chunk * chunk_rows;
    const std::int64_t end_row = first_row + chunk_rows < pass.rows ? first_row + chunk_rows : pass.rows;
    const Eight weight = load_eight<quads>(pass.weight, first, width);
    Eight d_weight{}, d_bias{}, d_out_bias{};
    for (std::int64_t row = first_row; row < end_row; ++row) {
        const std::int64_t begin = row * width;
        const float mean = pass.mean[row], inverse_deviation = pass.inverse_deviation[row];
        Eight d = gradient_of_normed<quads>(pass, begin, first);
        Eight normal = load_eight<quads>(pass.sum + begin, first, width);
        float along[2] = {0, 0};  // one, normal; columns behind the end have no gradient
        for (int i = 0; i < 8; ++i) {
            normal[i] = (normal[i] - mean) * inverse_deviation;
            d_weight[i] += d[i] * normal[i];
            d_bias[i] += d[i];
            d[i] *= weight[i];
            along[0] += d[i];
            along[1] += d[i] * normal[i];
        }
        block_sums(along, static_cast<int>(row % 2));
        const float along_one = along[0] / static_cast<float>(width), along_normal = along[1] / static_cast<float>(width);
        for (int i = 0; i < 8; ++i) d[i] = inverse_deviation * (d[i] - along_one - normal[i] * along_normal);
        if (pass.d_sum_past != nullptr) {
            const Eight past = load_eight<quads>(pass.d_sum_past + begin, first, width);
            for (int i = 0; i < 8; ++i) d[i] += past[i];
        }
        store_eight<quads>(pass.d_sum + begin, first, width, d);
        if (pass.d_out == nullptr) continue;
        if (pass.dropout.threshold > 0) apply_dropout(pass.dropout, row, first, d);
        for (int i = 0; i < 8; ++i) d_out_bias[i] += d[i];
        store_eight<quads>(pass.d_out + begin, first, width, d);
    }
    const std::int64_t kinds = pass.d_out != nullptr ? 3 : 2;
    float* const sums = pass.chunk_sums + chunk * kinds * width;
    store_eight<quads>(sums, first, width, d_weight);
    store_eight<quads>(sums + width, first, width, d_bias);
    if (pass.d_out != nullptr) store_eight<quads>(sums + 2 * width, first, width, d_out_bias);
}

}  // namespace

template <class W>
void norm_backward(const NormBackward<W>& pass, bool quads, cudaStream_t stream) {
    launch(quads ? norm_backward_rows<W, true> : norm_backward_rows<W, false>, grid_of(row_chunks(pass.rows)),
           row_threads(pass.width), stream, pass, rows_per_chunk(pass.rows));
}
template void norm_backward(const NormBackward<float>&, bool, cudaStream_t);
template void norm_backward(const NormBackward<Bf16>&, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
