// A launch that the GPU refuses; tests/gpu/self_proof_test.cpp uses the same kernel on a GPU.
#include "kernels/cuda/empty_kernel.h"

#include <string>

#include "support/catch.h"
#include "support/cuda_emulator/cuda_runtime.h"

using bertpretrain::cuda::launch_empty_kernel;

TEST_CASE("a launch with more shared memory than the GPU has fails with both sizes, and leaves no error in CUDA") {
    const int limit_kib = GENERATE(99, 163, 227);
    const cuda_emulator::SharedMemoryOf memory(limit_kib * 1024);
    const auto limit = static_cast<std::size_t>(limit_kib) * 1024;
    CHECK_NOTHROW(launch_empty_kernel(limit, nullptr));
    CHECK_THROWS_WITH(launch_empty_kernel(limit + 1, nullptr),
                      Catch::Contains("CUDA kernel launch with " + std::to_string(limit + 1) + " bytes") &&
                          Catch::Contains("at most " + std::to_string(limit)) && Catch::Contains("failed: invalid argument"));
    CHECK(cudaGetLastError() == cudaSuccess);
}
