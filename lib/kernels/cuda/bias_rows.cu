#include "kernels/cuda/bias_rows.h"

#include "kernels/cuda/activation_functions.h"
#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t warps_per_block = 4;

/// Returns the first column of this warp.
__device__ __forceinline__ std::int64_t first_column() { return (blockIdx.x * warps_per_block + warp()) * warp_columns; }

/// A thread loads its part of the next row while it computes the current one: a B200's multiprocessors need twice the bytes in
/// flight that an H100's do.
template <class W, RowFunction function, bool quads>
__global__ void forward_rows(const BiasForward<W> pass, std::int64_t chunk_rows) {
    wait_for_kernel_before();
    const std::int64_t first = first_column(), first_row = blockIdx.y * chunk_rows;
    const std::int64_t end_row = first_row + chunk_rows < pass.rows ? first_row + chunk_rows : pass.rows;
    const Eight bias = load_eight<quads>(pass.bias, first, pass.width);
    Loaded<quads, W> next;
    next.load(pass.x + first_row * pass.width, first, pass.width);
    for (std::int64_t row = first_row; row < end_row; ++row) {
        Eight values = next.values();
        if (row + 1 < end_row) next.load(pass.x + (row + 1) * pass.width, first, pass.width);
        for (int i = 0; i < 8; ++i) values[i] = value_at<function>(values[i] + bias[i]);
        store_eight<quads>(pass.y + row * pass.width, first, pass.width, values);
    }
}

template <class W, RowFunction function, bool quads>
__global__ void backward_rows(const BiasBackward<W> pass, std::int64_t chunk_rows) {
    wait_for_kernel_before();
    const std::int64_t first = first_column(), chunk = blockIdx.y, first_row = chunk * chunk_rows;
    const std::int64_t dx_stride = pass.dx_stride > 0 ? pass.dx_stride : pass.width;
    Eight bias{}, sums{};
    if constexpr (function != RowFunction::identity) bias = load_eight<quads>(pass.bias, first, pass.width);
    for (std::int64_t row = first_row; row < first_row + chunk_rows && row < pass.rows; ++row) {
        Eight d = load_eight<quads>(pass.dy + row * pass.width, first, pass.width);
        if constexpr (function != RowFunction::identity) {
            const Eight x = load_eight<quads>(pass.x + row * pass.width, first, pass.width);
            for (int i = 0; i < 8; ++i) d[i] *= slope_at<function>(x[i] + bias[i]);
        }
        for (int i = 0; i < 8; ++i) sums[i] += d[i];
        if (pass.dx != nullptr) store_eight<quads>(pass.dx + row * dx_stride, first, pass.width, d);
    }
    store_eight<quads>(pass.chunk_sums + chunk * pass.width, first, pass.width, sums);
}

template <class W, RowFunction function, bool quads>
__global__ void gated_rows(const GatedForward<W> pass, std::int64_t chunk_rows) {
    wait_for_kernel_before();
    const std::int64_t first = first_column(), first_row = blockIdx.y * chunk_rows, width = pass.width;
    for (std::int64_t row = first_row; row < first_row + chunk_rows && row < pass.rows; ++row) {
        const W* x = pass.x + row * 2 * width;
        Eight values = load_eight<quads>(x, first, width);
        const Eight gate = load_eight<quads>(x + width, first, width);
        for (int i = 0; i < 8; ++i) values[i] = value_at<function>(values[i]) * gate[i];
        store_eight<quads>(pass.y + row * width, first, width, values);
    }
}

template <class W, RowFunction function, bool quads>
__global__ void gated_backward_rows(const GatedBackward<W> pass, std::int64_t chunk_rows) {
    wait_for_kernel_before();
    const std::int64_t first = first_column(), first_row = blockIdx.y * chunk_rows, width = pass.width;
    for (std::int64_t row = first_row; row < first_row + chunk_rows && row < pass.rows; ++row) {
        const W* x = pass.x + row * 2 * width;
        const Eight at = load_eight<quads>(x, first, width), dy = load_eight<quads>(pass.dy + row * width, first, width);
        Eight gate = load_eight<quads>(x + width, first, width), d_gate{};
        for (int i = 0; i < 8; ++i) {
            d_gate[i] = dy[i] * value_at<function>(at[i]);
            gate[i] = dy[i] * gate[i] * slope_at<function>(at[i]);
        }
        W* dx = pass.dx + row * 2 * width;
        store_eight<quads>(dx, first, width, gate);
        store_eight<quads>(dx + width, first, width, d_gate);
    }
}

dim3 grid_over(std::int64_t rows, std::int64_t width) {
    return grid_of(ceil_div(width, warps_per_block * warp_columns), row_chunks(rows));
}

/// Calls body.operator()<function, quads>().
template <class Body>
void with_constants(RowFunction function, bool quads, const Body& body) {
    const auto choose = [&]<bool q>() {
        if (function == RowFunction::gelu_erf) body.template operator()<RowFunction::gelu_erf, q>();
        else if (function == RowFunction::gelu_tanh) body.template operator()<RowFunction::gelu_tanh, q>();
        else if (function == RowFunction::silu) body.template operator()<RowFunction::silu, q>();
        else body.template operator()<RowFunction::identity, q>();
    };
    if (quads) choose.template operator()<true>();
    else choose.template operator()<false>();
}

}  // namespace

template <class W>
void bias_forward(const BiasForward<W>& pass, RowFunction function, bool quads, cudaStream_t stream) {
    with_constants(function, quads, [&]<RowFunction f, bool q>() {
        launch(forward_rows<W, f, q>, grid_over(pass.rows, pass.width), warps_per_block * warp_lanes, stream, pass,
               rows_per_chunk(pass.rows));
    });
}
template void bias_forward(const BiasForward<float>&, RowFunction, bool, cudaStream_t);
template void bias_forward(const BiasForward<Bf16>&, RowFunction, bool, cudaStream_t);

template <class W>
void bias_backward(const BiasBackward<W>& pass, RowFunction function, bool quads, cudaStream_t stream) {
    with_constants(function, quads, [&]<RowFunction f, bool q>() {
        launch(backward_rows<W, f, q>, grid_over(pass.rows, pass.width), warps_per_block * warp_lanes, stream, pass,
               rows_per_chunk(pass.rows));
    });
}
template void bias_backward(const BiasBackward<float>&, RowFunction, bool, cudaStream_t);
template void bias_backward(const BiasBackward<Bf16>&, RowFunction, bool, cudaStream_t);

template <class W>
void gated_forward(const GatedForward<W>& pass, RowFunction function, bool quads, cudaStream_t stream) {
    with_constants(function, quads, [&]<RowFunction f, bool q>() {
        launch(gated_rows<W, f, q>, grid_over(pass.rows, pass.width), warps_per_block * warp_lanes, stream, pass,
               rows_per_chunk(pass.rows));
    });
}
template void gated_forward(const GatedForward<float>&, RowFunction, bool, cudaStream_t);
template void gated_forward(const GatedForward<Bf16>&, RowFunction, bool, cudaStream_t);

template <class W>
void gated_backward(const GatedBackward<W>& pass, RowFunction function, bool quads, cudaStream_t stream) {
    with_constants(function, quads, [&]<RowFunction f, bool q>() {
        launch(gated_backward_rows<W, f, q>, grid_over(pass.rows, pass.width), warps_per_block * warp_lanes, stream, pass,
               rows_per_chunk(pass.rows));
    });
}
template void gated_backward(const GatedBackward<float>&, RowFunction, bool, cudaStream_t);
template void gated_backward(const GatedBackward<Bf16>&, RowFunction, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
