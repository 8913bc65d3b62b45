#pragma once
// Adding a compute_dtype product to an exact sum in one pass; torch would first make an fp32 copy of the product.

#include <ATen/core/Tensor.h>

namespace bertpretrain::cpu {

/// sum += product, element by element. @param product bf16, contiguous @param sum fp32, contiguous, as many elements
void accumulate_bf16(const at::Tensor& product, const at::Tensor& sum);

}  // namespace bertpretrain::cpu
