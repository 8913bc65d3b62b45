#pragma once
// The angles of rotary positions.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace bertpretrain::modern {

/// Returns Rotary::angles_PD: cosines and sines of p theta^(-2 j / D) for positions p < P and j < D / 2, fp32, on the device.
/// Angles are rounded to fp32 as in transformers, where p = 8,191 differs from exact angles by up to 4e-4.
at::Tensor rotary_angles(double theta, std::int64_t positions, std::int64_t head_size, at::Device device);

}  // namespace bertpretrain::modern
