#pragma once
// Stands in for CUDA's header of this name, so that g++ compiles the very .cu files as C++ and tests run their kernels without a
// GPU. A launch runs at once: one block after the other, each thread a fiber that runs until it must wait for others. Blocks,
// warps and lanes take their turns in an order drawn from a seed, and the first warp runs as far ahead as barriers let it, so
// that a missing barrier shows as a wrong result. Only what lib/kernels/cuda uses is here.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#define __global__
#define __device__
#define __shared__ static  // blocks run one after the other
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;  // of the running fiber

namespace cuda_emulator {

/// Every seed is another order of blocks, warps and lanes.
inline std::uint64_t schedule_seed = 1;

/// Runs body once per thread. @throws std::logic_error when threads wait for others that will never come
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& body);

void wait_for_block();
/// What lane `from` of this warp gave to the same call. All 32 lanes must come, with the same `kind` of call.
std::uint64_t exchange_in_warp(unsigned mask, const char* kind, std::uint64_t mine, unsigned from);
/// Bit l: whether lane l gave true.
unsigned ballot_in_warp(unsigned mask, bool mine);
void wait_for_warp();

/// Of the running block, aligned to 16 bytes; NaNs when a block begins.
void* dynamic_shared_memory();

/// The warp's matrix instructions (kernels/cuda/tensor_cores.h says which): operands of a lane, of which all 32 must come.
void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned* b);
void load_tiles(const std::uint16_t* row, bool transposed, unsigned (&tiles)[4]);

}  // namespace cuda_emulator

inline void __syncthreads() { cuda_emulator::wait_for_block(); }
inline void __syncwarp() { cuda_emulator::wait_for_warp(); }

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask) {
    std::uint64_t mine = 0, theirs = 0;
    std::memcpy(&mine, &value, sizeof value);
    theirs = cuda_emulator::exchange_in_warp(mask, "__shfl_xor_sync", mine, threadIdx.x % 32 ^ static_cast<unsigned>(lane_mask));
    std::memcpy(&value, &theirs, sizeof value);
    return value;
}
inline unsigned __ballot_sync(unsigned mask, bool value) { return cuda_emulator::ballot_in_warp(mask, value); }

inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

// The little of the runtime that a launch takes.
using cudaStream_t = struct CUstream_st*;
enum cudaError_t { cudaSuccess };
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
    void* attrs = nullptr;
    unsigned numAttrs = 0;
};
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
    cuda_emulator::run_grid(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                            [&] { kernel(Parameters(arguments)...); });
    return cudaSuccess;
}
