#pragma once
// Digests of gradients: equal bits have equal digests, and a change of any single element changes its tensor's digest.

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/flat_parameters.h"

namespace bertpretrain {

/// The sum of bits[i] * weight[i] modulo 2^64, where bits[i] is an element's bit pattern as a signed integer and weight[i] = (i
/// C) | 1 for a constant C. The weights are odd, so no change of a single element goes unnoticed, and the sum does not depend on
/// the order of summation. On the tensor's device; a CPU's cores share the work.
/// @param tensor of dtype fp32, bf16 or fp64, contiguous @returns an int64 tensor without axes, on the same device
at::Tensor digest_of(const at::Tensor& tensor);

/// Returns the digests of all gradients, in the order of the layout's parameters, and last that of the losses. Waits for the
/// device.
/// @param sums_S4 sums of losses, fp64
std::vector<std::uint64_t> gradient_digests(const FlatParameters& parameters, const at::Tensor& sums_S4);

/// Returns one digest of several.
std::uint64_t combined(std::span<const std::uint64_t> digests);

}  // namespace bertpretrain
