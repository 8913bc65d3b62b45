#pragma once
// Kernel launches from host code, and the division of rows into chunks. Free of torch, like everything that .cu files include.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bertpretrain::cuda {

/// @param what  the call that returned `error`, for the message
/// @throws std::runtime_error with CUDA's message if `error` is not cudaSuccess. CUDA then no longer remembers the error, or the
/// next kernel's launch would report it again, in any library.
inline void check_cuda(cudaError_t error, const std::string& what) {
    if (error == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());
    throw std::runtime_error(what + " failed: " + cudaGetErrorString(error));
}

/// Returns the most shared memory, in bytes, that a block can have on the current device.
inline std::size_t shared_memory_of_block() {
    int device = 0, bytes = 0;
    check_cuda(cudaGetDevice(&device), "the query for the current GPU");
    check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               "the query for the GPU's shared memory per block");
    return static_cast<std::size_t>(bytes);
}

/// Returns the current device's number of multiprocessors.
inline unsigned multiprocessors() {
    int device = 0, count = 0;
    check_cuda(cudaGetDevice(&device), "the query for the current GPU");
    check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "the query for the GPU's multiprocessors");
    return static_cast<unsigned>(count);
}

/// Returns the current device's compute capability, ten times the major number plus the minor one: 90 for an H100.
inline int compute_capability() {
    int device = 0, major = 0, minor = 0;
    check_cuda(cudaGetDevice(&device), "the query for the current GPU");
    check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "the query for the GPU's capability");
    check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "the query for the GPU's capability");
    return 10 * major + minor;
}

/// Allows a kernel `bytes` of dynamic shared memory per block, which is more than CUDA allows unasked.
/// @throws std::runtime_error if the device has less
inline void allow_shared(const void* kernel, std::size_t bytes) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess)
        check_cuda(error, "CUDA kernel launch with " + std::to_string(bytes) +
                              " bytes of shared memory per block, of which this GPU has at most " +
                              std::to_string(shared_memory_of_block()) + ",");
}

/// Says whether kernels launched from now on are started while the one before them in their stream ends, if the GPU can (from
/// Hopper on): "programmatic dependent launch". Each waits for that one itself (lanes.h, wait_for_kernel_before()). No at first.
void launch_early(bool early);
/// Whether they are, on the current device.
bool launches_early();

/// Launches kernel(arguments...) on `stream` with `shared_bytes` of dynamic shared memory per block. Does nothing for an empty
/// grid. Does not wait for the kernel.
/// @throws std::runtime_error if the launch fails
template <class... Parameters, class... Arguments>
void launch_with_shared(void (*kernel)(Parameters...), dim3 grid, std::int64_t threads, std::size_t shared_bytes,
                        cudaStream_t stream, const Arguments&... arguments) {
    constexpr std::size_t allowed_unasked = 48 * 1024;
    if (grid.x == 0 || grid.y == 0) return;
    if (shared_bytes > allowed_unasked) allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = launches_early() ? 1 : 0;
    check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), "CUDA kernel launch");
}

/// The same without dynamic shared memory.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, std::int64_t threads, cudaStream_t stream, const Arguments&... arguments) {
    launch_with_shared(kernel, grid, threads, 0, stream, arguments...);
}

inline dim3 grid_of(std::int64_t x, std::int64_t y = 1) { return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)); }

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Column sums are taken per chunk of rows, then over the chunks in order. The chunks depend only on the number of rows, so the
/// sums do not depend on the device: enough chunks to fill a GPU, few enough that their sums stay in its cache.
constexpr std::int64_t rows_per_chunk(std::int64_t rows) { return std::max<std::int64_t>(8, ceil_div(rows, 1024)); }
constexpr std::int64_t row_chunks(std::int64_t rows) { return ceil_div(rows, rows_per_chunk(rows)); }

}  // namespace bertpretrain::cuda
