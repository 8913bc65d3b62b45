#pragma once
// How host code starts a kernel, and how rows are shared between blocks. Without torch, as everything that .cu files include.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bertpretrain::cuda {

/// Starts kernel(arguments...) on `stream`; a grid without blocks is nothing to do. Does not wait.
/// @throws std::runtime_error when the launch itself is refused
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, std::int64_t threads, cudaStream_t stream, const Arguments&... arguments) {
    if (grid.x == 0 || grid.y == 0) return;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream;
    const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
    if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA refuses a kernel: ") + cudaGetErrorString(error));
}

inline dim3 grid_of(std::int64_t x, std::int64_t y = 1) { return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)); }

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Column sums are taken per chunk of rows, then over the chunks in order. How rows are cut follows from their number alone, so
/// the sums do not depend on the device: enough chunks to fill it, few enough that their sums stay in its cache.
constexpr std::int64_t rows_per_chunk(std::int64_t rows) { return std::max<std::int64_t>(8, ceil_div(rows, 1024)); }
constexpr std::int64_t row_chunks(std::int64_t rows) { return ceil_div(rows, rows_per_chunk(rows)); }

}  // namespace bertpretrain::cuda
