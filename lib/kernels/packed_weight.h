#pragma once
// Weights that are reused unchanged for many matmuls, repacked once into the layout that is fastest for oneDNN.
//
// fp32 gains more than the layout: libtorch uses MKL for fp32 GEMMs, and on an AMD EPYC (Zen 4) MKL was slower than oneDNN for
// every shape of BERT-Base and of a model with 6 layers of width 384.

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// Returns the weight for use in linear_matmul() only: a copy in oneDNN's layout, or the weight itself if it cannot be packed
/// (on a GPU, when operands are widened, with a libtorch without oneDNN).
at::Tensor packed_weight(const at::Tensor& weight_OI);

/// x_TI W_OI^T. @param packed_OI a result of packed_weight() for which is_packed() is true
at::Tensor packed_matmul(const at::Tensor& x_TI, const at::Tensor& packed_OI);

inline bool is_packed(const at::Tensor& weight_OI) { return weight_OI.is_mkldnn(); }

}  // namespace bertpretrain
