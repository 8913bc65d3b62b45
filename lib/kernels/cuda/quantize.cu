// A block rounds a tile of 128 rows and 64 columns: each thread a square of four rows and four columns at a time, whose transpose
// it builds in registers. The transposed tile goes through shared memory, so that both results are written in whole 32-byte
// parts.
#include "kernels/cuda/activation_functions.h"
#include "kernels/cuda/fp8_rows.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/quantize.h"

namespace bertpretrain::cuda {
namespace {

constexpr int tile_rows = quantized_tile_rows, tile_columns = 64, threads_per_block = 256;
constexpr int squares_across = tile_columns / 4, squares_down = tile_rows / 4;
constexpr int thread_rows = threads_per_block / squares_across;  // threads that share four columns

/// Four columns of x.
struct Plain {
    static constexpr bool sums_columns = false;
    __device__ __forceinline__ void quad(const Quantized& pass, std::int64_t row, std::int64_t column, float (&at)[4]) const {
        load_quad(pass.x + row * pass.width + column, at);
    }
};

/// function(x + bias).
template <RowFunction function>
struct Activated {
    static constexpr bool sums_columns = false;
    QuantizedActivation of;
    __device__ __forceinline__ void quad(const Quantized& pass, std::int64_t row, std::int64_t column, float (&at)[4]) const {
        float bias[4];
        load_quad(pass.x + row * pass.width + column, at);
        load_quad(of.bias + column, bias);
        for (int i = 0; i < 4; ++i) at[i] = value_at<function>(at[i] + bias[i]);
    }
};

/// dy function'(x + bias).
template <RowFunction function>
struct ActivatedBackward {
    static constexpr bool sums_columns = true;
    QuantizedActivation of;
    __device__ __forceinline__ void quad(const Quantized& pass, std::int64_t row, std::int64_t column, float (&at)[4]) const {
        float x[4], bias[4];
        load_quad(of.dy + row * pass.width + column, at);
        load_quad(pass.x + row * pass.width + column, x);
        load_quad(of.bias + column, bias);
        for (int i = 0; i < 4; ++i) at[i] *= slope_at<function>(x[i] + bias[i]);
    }
};

/// function(a) b, where a row of x is a, then b.
template <RowFunction function>
struct Gated {
    static constexpr bool sums_columns = false;
    QuantizedActivation of;
    __device__ __forceinline__ void quad(const Quantized& pass, std::int64_t row, std::int64_t column, float (&at)[4]) const {
        float gate[4];
        const Bf16* x = pass.x + row * 2 * pass.width + column;
        load_quad(x, at);
        load_quad(x + pass.width, gate);
        for (int i = 0; i < 4; ++i) at[i] = value_at<function>(at[i]) * gate[i];
    }
};

/// The gradients of a, then of b. Four columns are of one of them.
template <RowFunction function>
struct GatedBackward {
    static constexpr bool sums_columns = false;
    QuantizedActivation of;
    __device__ __forceinline__ void quad(const Quantized& pass, std::int64_t row, std::int64_t column, float (&at)[4]) const {
        const std::int64_t F = pass.width / 2, within = column < F ? column : column - F;
        const Bf16* x = pass.x + row * pass.width + within;
        float a[4], gate[4];
        load_quad(of.dy + row * F + within, at);
        load_quad(x, a);
        if (column < F) {
            load_quad(x + F, gate);
            for (int i = 0; i < 4; ++i) at[i] = at[i] * gate[i] * slope_at<function>(a[i]);
        } else {
            for (int i = 0; i < 4; ++i) at[i] = at[i] * value_at<function>(a[i]);
        }
    }
};

/// Writes the tile's column sums, added over threads in order.
__device__ __forceinline__ void store_sums(const float (&sums)[4], std::int64_t first_column, std::int64_t width,
                                           float* tile_sums) {
    __shared__ float of_threads[thread_rows][tile_columns];
    const int across = static_cast<int>(threadIdx.x) % squares_across,
              thread_row = static_cast<int>(threadIdx.x) / squares_across;
    for (int c = 0; c < 4; ++c) of_threads[thread_row][4 * across + c] = sums[c];
    __syncthreads();
    const std::int64_t column = first_column + threadIdx.x;
    if (threadIdx.x >= tile_columns || column >= width) return;
    float total = 0;
    for (int t = 0; t < thread_rows; ++t) total += of_threads[t][threadIdx.x];
    tile_sums[blockIdx.y * width + column] = total;
}

template <class F, class Source>
__global__ void __launch_bounds__(threads_per_block) quantize_tiles(const Quantized pass, const Source source, float* tile_sums) {
    wait_for_kernel_before();
    __shared__ unsigned transposed[tile_columns][squares_down + 1];  // the padding avoids bank conflicts
    const std::int64_t first_row = std::int64_t{blockIdx.y} * tile_rows, first_column = std::int64_t{blockIdx.x} * tile_columns;
    const float scale = *pass.scale;
    unsigned magnitude = 0;
    float sums[4] = {0, 0, 0, 0};
    const int across = static_cast<int>(threadIdx.x) % squares_across;
    const std::int64_t column = first_column + 4 * across;
    for (int down = static_cast<int>(threadIdx.x) / squares_across; down < squares_down; down += thread_rows) {
        const std::int64_t row = first_row + 4 * down;
        if (row >= pass.rows || column >= pass.width) continue;
        unsigned bytes[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            float x[4];
            source.quad(pass, row + r, column, x);
            if constexpr (Source::sums_columns)
                for (int c = 0; c < 4; ++c) sums[c] += x[c];
            bytes[r] = rounded_quad<F>(x, scale, magnitude);  // as if the operand had been written in bf16
            *reinterpret_cast<unsigned*>(pass.by_row + (row + r) * pass.width + column) = bytes[r];
        }
        transpose_bytes(bytes);
#pragma unroll
        for (int c = 0; c < 4; ++c) transposed[4 * across + c][down] = bytes[c];
    }
    __syncthreads();
    for (int quad = static_cast<int>(threadIdx.x); quad < tile_columns * squares_down; quad += threads_per_block) {
        const std::int64_t row = first_row + 4 * (quad % squares_down), written = first_column + quad / squares_down;
        if (row < pass.rows && written < pass.width)
            *reinterpret_cast<unsigned*>(pass.by_column + written * pass.rows + row) =
                transposed[quad / squares_down][quad % squares_down];
    }
    if constexpr (Source::sums_columns)
        if (tile_sums != nullptr) store_sums(sums, first_column, pass.width, tile_sums);
    add_largest(magnitude, pass.largest);
}

template <class F, class Source>
void run(const Quantized& pass, const Source& source, float* tile_sums, cudaStream_t stream) {
    launch(quantize_tiles<F, Source>, grid_of(ceil_div(pass.width, tile_columns), ceil_div(pass.rows, tile_rows)),
           threads_per_block, stream, pass, source, tile_sums);
}

template <RowFunction function>
void run_activation(const Quantized& pass, const QuantizedActivation& of, cudaStream_t stream) {
    if (of.dy == nullptr && of.is_gated) run<E4m3>(pass, Gated<function>{of}, nullptr, stream);
    else if (of.dy == nullptr) run<E4m3>(pass, Activated<function>{of}, nullptr, stream);
    else if (of.is_gated) run<E5m2>(pass, GatedBackward<function>{of}, nullptr, stream);
    else run<E5m2>(pass, ActivatedBackward<function>{of}, of.tile_sums, stream);
}

}  // namespace

void quantize(const Quantized& pass, bool is_e4m3, cudaStream_t stream) {
    if (is_e4m3) run<E4m3>(pass, Plain{}, nullptr, stream);
    else run<E5m2>(pass, Plain{}, nullptr, stream);
}

void quantize_activation(const Quantized& pass, const QuantizedActivation& activation, cudaStream_t stream) {
    if (activation.function == RowFunction::gelu_erf) run_activation<RowFunction::gelu_erf>(pass, activation, stream);
    else if (activation.function == RowFunction::gelu_tanh) run_activation<RowFunction::gelu_tanh>(pass, activation, stream);
    else run_activation<RowFunction::silu>(pass, activation, stream);
}

}  // namespace bertpretrain::cuda
