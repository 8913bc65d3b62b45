#pragma once
// Weights that stay as they are for many products: laid out once as oneDNN's product likes them best.
//
// For fp32 it is worth more than the layout: libtorch multiplies fp32 by MKL, which on an AMD EPYC (Zen 4) took longer than
// oneDNN for every shape of BERT-Base and of 6 layers of 384.

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// The weight for linear_matmul() and nothing else: a copy in oneDNN's layout, or the weight itself where it cannot be packed
/// (on a GPU, for products of widened operands, in a libtorch without oneDNN).
at::Tensor packed_weight(const at::Tensor& weight_OI);

/// x_TI W_OI^T with a weight that packed_weight() gave and is_packed() is true of.
at::Tensor packed_matmul(const at::Tensor& x_TI, const at::Tensor& packed_OI);

inline bool is_packed(const at::Tensor& weight_OI) { return weight_OI.is_mkldnn(); }

}  // namespace bertpretrain
