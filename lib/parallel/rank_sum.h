#pragma once
// The sum over ranks, in one order everywhere.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// output[i] = parts[0][i] + parts[1][i] + ..., added in fp32 from rank 0 on, whatever the type on the wire.
///
/// @param parts_RN  fp32 or bf16, contiguous, on the CPU: rank after rank
/// @param output_N  fp32 or bf16
void add_in_rank_order(const at::Tensor& parts_RN, std::int64_t ranks, const at::Tensor& output_N);

}  // namespace bertpretrain
