#pragma once
// Replaces CUDA's header of this name, so that g++ compiles the same .cu files as C++ and tests run their kernels without a GPU.
// A launch runs immediately: one block after the other, with each thread as a fiber that runs until it must wait for others. The
// order of blocks, warps and lanes is drawn from a seed, and the first warp runs as far ahead as barriers allow, so that a
// missing barrier gives a wrong result. Declares only what lib/kernels/cuda uses.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
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
inline dim3 threadIdx, blockIdx, blockDim, gridDim;  // those of the running fiber

namespace cuda_emulator {

/// The seed of the order of blocks, warps and lanes.
inline std::uint64_t schedule_seed = 1;
/// The number of blocks that have run.
inline std::uint64_t blocks_run = 0;

/// Runs `body` once per thread. @throws std::logic_error when threads wait for others that cannot arrive
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& body);

void wait_for_block();
/// Returns the value that lane `from` of this warp passed to the same call. All 32 lanes must call it with the same `kind`.
std::uint64_t exchange_in_warp(unsigned mask, const char* kind, std::uint64_t mine, unsigned from);
/// Returns a mask whose bit l is set if lane l passed true.
unsigned ballot_in_warp(unsigned mask, bool mine);
void wait_for_warp();

/// Returns the shared memory of the running block, aligned to 16 bytes and no more, and filled with NaNs when a block begins.
void* dynamic_shared_memory();

/// The warp's matrix instructions (see kernels/cuda/tensor_cores.h), with the operands of one lane. All 32 lanes must call them.
void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned* b);
void load_tiles(const std::uint16_t* row, bool transposed, unsigned (&tiles)[4]);

/// kernels/cuda/long_attention_rows.h: the copies of a thread are made when it waits for them. `from` null: zeros.
void copy_async(void* to, const void* from, std::size_t bytes);
void wait_for_copies();

/// kernels/cuda/lanes.h. The emulator refuses kernels of which a thread does not call it.
void wait_for_kernel_before();
/// The number of kernels that were launched to wait for the one before them themselves.
inline std::uint64_t early_launches = 0;

/// The addresses that kernels have asked to be brought to the L2 cache (kernels/cuda/short_attention_block.h).
inline std::set<const void*> brought_to_cache;

/// kernels/cuda/warpgroup.h, with the operands of one lane. Matmuls are made when their warp waits for them; until then their
/// sums are NaN. All 32 lanes of a warp must call these functions, and all warps of a warpgroup as often as each other.
/// @param sums 32 of them @param a in registers, or null: described by descriptor_a @param transposed_b whether columns of `b`
/// are adjacent in memory, instead of steps along the sum
void begin_matmuls();
void multiply_in_group(float* sums, const unsigned* a, std::uint64_t descriptor_a, std::uint64_t descriptor_b, bool transposed_b,
                       bool accumulate);
void commit_matmuls();
void wait_for_matmuls();
/// Must be called between wait_for_copies() and a matmul that reads what was copied.
void show_to_matmuls();
/// Returns the address within shared memory.
unsigned shared_address(const void* at);

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
inline void atomicMax(unsigned* at, unsigned value) { *at = value > *at ? value : *at; }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

// The functions of the CUDA runtime that a launch needs. As in CUDA, a call that fails also sets the last error, which stays
// until cudaGetLastError() returns it.
using cudaStream_t = struct CUstream_st*;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorNoKernelImageForDevice = 209 };
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetDevice(int* device);
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrComputeCapabilityMajor,
    cudaDevAttrComputeCapabilityMinor
};
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
/// Fails above cuda_emulator::shared_memory_limit.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes = 0;
    cudaStream_t stream = nullptr;
    cudaLaunchAttribute* attrs = nullptr;
    unsigned numAttrs = 0;
};

namespace cuda_emulator {

/// The most shared memory of a block: 227 KiB on H100, 163 KiB on A100, 99 KiB on GeForce RTX 30 to 50, A10 and L40S.
inline int shared_memory_limit = 227 * 1024;
/// Ten times the major number plus the minor one.
inline int compute_capability = 90;
inline constexpr int multiprocessors = 2;
/// Whether every launch fails, as where the module has no code for the GPU.
inline bool launches_fail = false;

/// Changes a variable while it lives.
template <auto variable>
class Changed {
public:
    explicit Changed(int value) : before_(std::exchange(*variable, value)) {}
    ~Changed() { *variable = before_; }
    Changed(const Changed&) = delete;
    Changed& operator=(const Changed&) = delete;

private:
    int before_;
};
using SharedMemoryOf = Changed<&shared_memory_limit>;
using CapabilityOf = Changed<&compute_capability>;

/// Lets every launch fail while it lives.
class FailingLaunches {
public:
    FailingLaunches() { launches_fail = true; }
    ~FailingLaunches() { launches_fail = false; }
    FailingLaunches(const FailingLaunches&) = delete;
    FailingLaunches& operator=(const FailingLaunches&) = delete;
};

/// Returns CUDA's error for a launch with this much dynamic shared memory, and makes it the last error.
cudaError_t check_launch(const void* kernel, std::size_t shared_bytes);

}  // namespace cuda_emulator

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
    if (const cudaError_t error = cuda_emulator::check_launch(reinterpret_cast<const void*>(kernel), config->dynamicSmemBytes);
        error != cudaSuccess)
        return error;
    for (unsigned a = 0; a < config->numAttrs; ++a)
        if (config->attrs[a].val.programmaticStreamSerializationAllowed != 0) ++cuda_emulator::early_launches;
    cuda_emulator::run_grid(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                            [&] { kernel(Parameters(arguments)...); });
    return cudaSuccess;
}
