#pragma once
// What the tests of the CUDA kernels share: they run in the emulator, through the same functions that a GPU's program calls, on
// tensors of the CPU.

#include "kernels/kernel_inputs.h"
#include "support/cuda_emulator/cuda_runtime.h"

namespace bertpretrain::testing {

/// compute() twice, in different orders of blocks, warps and lanes.
template <class Compute>
auto in_two_orders(const Compute& compute) {
    cuda_emulator::schedule_seed = 1;
    auto first = compute();
    cuda_emulator::schedule_seed = 2;
    return std::pair(std::move(first), compute());
}

/// Widths that end within a quad, a warp and a block, and those of the published models.
inline const std::vector<std::int64_t> widths{1, 7, 100, 256, 768, 1024, 1600};

/// The tensor's numbers one element into a buffer: no access by fours is aligned there.
inline at::Tensor unaligned(const at::Tensor& tensor) {
    const at::Tensor moved = at::empty({tensor.numel() + 1}, tensor.options()).narrow(0, 1, tensor.numel()).view_as(tensor);
    return moved.copy_(tensor);
}

}  // namespace bertpretrain::testing

/// The same numbers from both orders of threads.
#define CHECK_SAME_BITS(results, tensor)                                                      \
    do {                                                                                      \
        CAPTURE(#tensor);                                                                     \
        CHECK(bertpretrain::testing::same_bits(results.first.tensor, results.second.tensor)); \
    } while (false)
