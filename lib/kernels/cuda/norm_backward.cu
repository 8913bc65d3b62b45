// One chunk of rows per block. Each thread keeps the same eight columns and sums them over the chunk's rows.
#include <type_traits>

#include "kernels/cuda/block_sums.h"
#include "kernels/cuda/dropout_factors.h"
#include "kernels/cuda/fp8_rows.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm.h"

namespace bertpretrain::cuda {
namespace {

/// A thread's inputs of a row and its kept elements. The next row is loaded while the current one is computed.
template <bool quads, class W, class S>
struct RowInputs {
    Loaded<quads, W> d_normed{};
    Loaded<quads, S> d_residual{}, sum{};
    float mean = 0, rstd = 0;
    unsigned kept = 0;

    __device__ __forceinline__ void load(const NormBackward<W, S>& pass, std::int64_t row, std::int64_t first) {
        const std::int64_t begin = row * pass.width;
        if (pass.d_normed != nullptr) d_normed.load(pass.d_normed + begin, first, pass.width);
        if (pass.d_residual != nullptr) d_residual.load(pass.d_residual + begin, first, pass.width);
        sum.load(pass.sum + begin, first, pass.width);
        mean = pass.mean[row], rstd = pass.rstd[row];
        if (pass.has_out && pass.dropout.threshold > 0) kept = kept_of_eight(pass.dropout, row, first);
    }
};

struct NoWriter {
    __device__ explicit NoWriter(const Fp8Rows& /*unused*/) {}
};

/// @tparam fp8 whether out's gradient is written in fp8
template <class W, class S, bool quads, bool fp8>
__global__ void __launch_bounds__(512) norm_backward_rows(const NormBackward<W, S> pass, std::int64_t chunk_rows) {
    wait_for_kernel_before();
    const std::int64_t width = pass.width, first = warp() * warp_columns, chunk = blockIdx.x;
    const std::int64_t first_row = chunk * chunk_rows;
    const std::int64_t end_row = first_row + chunk_rows < pass.rows ? first_row + chunk_rows : pass.rows;
    const Eight weight = load_eight<quads>(pass.weight, first, width);
    const float each = 1.0F / static_cast<float>(width);
    Eight d_weight{}, d_bias{}, d_out_bias{};
    std::conditional_t<fp8, Fp8RowWriter<E5m2>, NoWriter> writer(pass.d_out_fp8);
    RowInputs<quads, W, S> next;
    next.load(pass, first_row, first);
    for (std::int64_t row = first_row; row < end_row; ++row) {
        const RowInputs<quads, W, S> in = next;
        if (row + 1 < end_row) next.load(pass, row + 1, first);
        const Eight d_residual = in.d_residual.values();
        Eight d = in.d_normed.values(), normal = in.sum.values();
        float along[2] = {0, 0};  // dot products with ones and with `normal`; columns after the end have no gradient
        for (int i = 0; i < 8; ++i) {
            d[i] += d_residual[i];
            normal[i] = (normal[i] - in.mean) * in.rstd;
            d_weight[i] += d[i] * normal[i];
            d_bias[i] += d[i];
            d[i] *= weight[i];
            along[0] += d[i];
            along[1] += d[i] * normal[i];
        }
        block_sums(along, static_cast<int>(row % 2));
        const float along_one = pass.centers * (along[0] * each), along_normal = along[1] * each;
        for (int i = 0; i < 8; ++i) d[i] = in.rstd * (d[i] - along_one - normal[i] * along_normal);
        const std::int64_t begin = row * width;
        if (pass.d_sum_past != nullptr) {
            const Eight past = load_eight<quads>(pass.d_sum_past + begin, first, width);
            for (int i = 0; i < 8; ++i) d[i] += past[i];
        }
        store_eight<quads>(pass.d_sum + begin, first, width, d);
        if (!pass.has_out) continue;
        if (pass.dropout.threshold > 0) apply_dropout(in.kept, pass.dropout.scale, d);
        for (int i = 0; i < 8; ++i) d_out_bias[i] += d[i];
        if constexpr (fp8) {
            writer.put(row, first, d);
            const std::int64_t tile_begin = row / fp8_tile_rows * fp8_tile_rows;
            if (row + 1 == end_row || row + 1 == tile_begin + fp8_tile_rows)
                writer.transpose(tile_begin < first_row ? first_row : tile_begin, row + 1);
        } else store_eight<quads>(pass.d_out + begin, first, width, d);
    }
    if constexpr (fp8) writer.finish();
    const std::int64_t kinds = pass.has_out ? 3 : 2;
    float* const sums = pass.chunk_sums + chunk * kinds * width;
    store_eight<quads>(sums, first, width, d_weight);
    store_eight<quads>(sums + width, first, width, d_bias);
    if (pass.has_out) store_eight<quads>(sums + 2 * width, first, width, d_out_bias);
}

}  // namespace

template <class W, class S>
void norm_backward(const NormBackward<W, S>& pass, bool quads, cudaStream_t stream) {
    const std::int64_t threads = row_threads(pass.width), chunk_rows = rows_per_chunk(pass.rows);
    const dim3 chunks = grid_of(row_chunks(pass.rows));
    if constexpr (std::is_same_v<W, Bf16>)
        if (pass.d_out_fp8.by_row != nullptr)
            return launch_with_shared(norm_backward_rows<W, S, true, true>, chunks, threads, fp8_tile_bytes(threads), stream,
                                      pass, chunk_rows);
    launch(quads ? norm_backward_rows<W, S, true, false> : norm_backward_rows<W, S, false, false>, chunks, threads, stream, pass,
           chunk_rows);
}
template void norm_backward(const NormBackward<float, float>&, bool, cudaStream_t);
template void norm_backward(const NormBackward<Bf16, float>&, bool, cudaStream_t);
template void norm_backward(const NormBackward<Bf16, Bf16>&, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
