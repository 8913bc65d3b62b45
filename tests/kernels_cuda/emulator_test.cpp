// Tests of the emulator itself: it detects faulty kernels.
#include "support/cuda_emulator/cuda_runtime.h"

#include <vector>

#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "support/catch.h"

namespace bertpretrain::cuda {
cudaStream_t current_stream() { return nullptr; }
}  // namespace bertpretrain::cuda

using bertpretrain::cuda::launch;
using bertpretrain::cuda::wait_for_kernel_before;

namespace {

enum class Fault { none, not_waited, barrier_left_out, barrier_not_reached, lane_absent, other_call, warp_incomplete };

/// Threads pass their number to the opposite thread through shared memory, and then to their neighbour.
__global__ void pass_around(unsigned* out, Fault fault) {
    if (fault != Fault::not_waited) wait_for_kernel_before();
    __shared__ unsigned numbers[64];
    numbers[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
    if (fault == Fault::barrier_not_reached && threadIdx.x == 3) return;
    if (fault != Fault::barrier_left_out) __syncthreads();
    unsigned number = numbers[63 - threadIdx.x];
    if (fault == Fault::lane_absent && threadIdx.x == 40) return;
    if (fault == Fault::other_call && threadIdx.x == 40) __ballot_sync(0xFFFFFFFF, true);
    else number = __shfl_xor_sync(fault == Fault::warp_incomplete ? 0xFFFF : 0xFFFFFFFF, number, 1);
    out[blockIdx.x * 64 + threadIdx.x] = number;
}

std::vector<unsigned> run(Fault fault, std::uint64_t seed = 1) {
    std::vector<unsigned> out(128);
    cuda_emulator::schedule_seed = seed;
    launch(pass_around, dim3(2), 64, nullptr, out.data(), fault);
    return out;
}

}  // namespace

TEST_CASE("the emulator runs blocks of threads that meet at barriers and exchange values") {
    std::vector<unsigned> expected;
    for (unsigned b = 0; b < 2; ++b)
        for (unsigned t = 0; t < 64; ++t) expected.push_back(100 * b + (63 - (t ^ 1)));
    for (std::uint64_t seed = 0; seed < 20; ++seed) CHECK(run(Fault::none, seed) == expected);
}

TEST_CASE("in the emulator, a missing barrier changes the result") { CHECK(run(Fault::barrier_left_out) != run(Fault::none)); }

TEST_CASE("the emulator refuses kernels whose threads wait forever") {
    for (const Fault fault : {Fault::barrier_not_reached, Fault::lane_absent, Fault::other_call, Fault::warp_incomplete})
        CHECK_THROWS_AS(run(fault), std::logic_error);
    CHECK_NOTHROW(run(Fault::none));
}

TEST_CASE("the emulator refuses a kernel that does not wait for the one before it, which launches may overlap") {
    CHECK_THROWS_WITH(run(Fault::not_waited), Catch::Contains("did not wait for the kernel before"));
}

TEST_CASE("kernels are started early only where that is asked for and the GPU can") {
    const auto early = [](bool asked, int capability) {
        const cuda_emulator::CapabilityOf gpu(capability);
        const std::uint64_t before = cuda_emulator::early_launches;
        bertpretrain::cuda::launch_early(asked);
        run(Fault::none);
        bertpretrain::cuda::launch_early(false);
        return cuda_emulator::early_launches - before;
    };
    CHECK(early(true, 90) == 1);
    CHECK(early(true, 120) == 1);
    CHECK(early(true, 89) == 0);
    CHECK(early(false, 90) == 0);
}

TEST_CASE("the emulator refuses shared memory as CUDA does") {
    const int limit_kib = GENERATE(99, 163, 227);
    const cuda_emulator::SharedMemoryOf memory(limit_kib * 1024);
    const auto* const kernel = reinterpret_cast<const void*>(pass_around);
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limit_kib * 1024 + 1) ==
          cudaErrorInvalidValue);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);  // sticky until it is asked for
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
}
