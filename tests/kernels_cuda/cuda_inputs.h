#pragma once
// Shared by the tests of the CUDA kernels. They run in the emulator on CPU tensors, through the functions that the program calls
// on a GPU.

#include "kernels/kernel_inputs.h"
#include "support/cuda_emulator/cuda_runtime.h"

namespace bertpretrain::testing {

/// Calls compute() twice, with different orders of blocks, warps and lanes.
template <class Compute>
auto in_two_orders(const Compute& compute) {
    cuda_emulator::schedule_seed = 1;
    auto first = compute();
    cuda_emulator::schedule_seed = 2;
    return std::pair(std::move(first), compute());
}

/// Widths that end within a quad, a warp and a block, and the widths of published models.
inline const std::vector<std::int64_t> widths{1, 7, 100, 256, 768, 1024, 1600};

/// A copy that begins one element into a buffer, so that no access to four elements is aligned.
inline at::Tensor unaligned(const at::Tensor& tensor) {
    const at::Tensor moved = at::empty({tensor.numel() + 1}, tensor.options()).narrow(0, 1, tensor.numel()).view_as(tensor);
    return moved.copy_(tensor);
}

inline Quantizer quantizer_of(at::ScalarType type) { return {type, at::full({}, 16.0), at::full({}, 0.01F)}; }

/// Checks that an operand has the bits of its rows, rounded after they were written in bf16.
inline void check_rounded(const Fp8Operand& ours, const Quantizer& by, const at::Tensor& rows_TH) {
    const Quantizer right_by = quantizer_of(by.type);
    const Fp8Operand right = reference::quantize({rows_TH}, right_by);
    REQUIRE(ours.defined());
    CHECK(ours.rows_TC.scalar_type() == by.type);
    CHECK(at::equal(ours.rows_TC.view(at::kByte), right.rows_TC.view(at::kByte)));
    CHECK(at::equal(ours.columns_CT.view(at::kByte), right.columns_CT.view(at::kByte)));
    CHECK(same_bits(by.largest_1, right_by.largest_1));
}

}  // namespace bertpretrain::testing

/// Checks that both orders of threads gave the same bits.
#define CHECK_SAME_BITS(results, tensor)                                                      \
    do {                                                                                      \
        CAPTURE(#tensor);                                                                     \
        CHECK(bertpretrain::testing::same_bits(results.first.tensor, results.second.tensor)); \
    } while (false)
