#pragma once
// The counter-based dropout of kernels/dropout.h in plain ATen, for any device.

#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"

namespace bertpretrain::reference {

/// Returns dropout factors (0 or 1 / (1 - p)), fp32, R rows and `elements` columns.
/// @param sample_R, position_R, group_base_R int64 on one device
at::Tensor dropout_factors(const Dropout& dropout, const at::Tensor& sample_R, const at::Tensor& position_R,
                           const at::Tensor& group_base_R, std::int64_t elements);

}  // namespace bertpretrain::reference
