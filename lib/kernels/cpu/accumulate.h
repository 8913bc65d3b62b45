#pragma once
// Adds a bf16 matmul result to an fp32 sum in one pass; torch would first make an fp32 copy of it.

#include <ATen/core/Tensor.h>

namespace bertpretrain::cpu {

/// sum += gradient, elementwise. @param gradient bf16, contiguous @param sum fp32, contiguous, with as many elements
void accumulate_bf16(const at::Tensor& gradient, const at::Tensor& sum);

}  // namespace bertpretrain::cpu
