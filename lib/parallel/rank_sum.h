#pragma once
// The sum over ranks, in the same order on every rank.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// output[i] = parts[0][i] + parts[1][i] + ..., accumulated in fp32 from rank 0 up, for any input dtype.
///
/// @param parts_RN  fp32 or bf16, contiguous, on the CPU, in rank order
/// @param output_N  fp32 or bf16
void add_in_rank_order(const at::Tensor& parts_RN, std::int64_t ranks, const at::Tensor& output_N);

}  // namespace bertpretrain
