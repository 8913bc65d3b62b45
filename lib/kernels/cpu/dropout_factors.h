#pragma once
// The dropout factors of kernels/dropout.h for one row, vectorized.

#include <cstdint>

#include "kernels/dropout.h"

namespace bertpretrain::cpu {

/// keep[e] = dropout factor (0 or 1 / (1 - p)) of element e of the row (sample, position), for e < elements.
/// @param keep room for `elements` rounded up to 128
void fill_dropout_factors(const Dropout& dropout, std::uint64_t sample, std::uint32_t position, std::uint32_t group_base,
                          std::int64_t elements, float* keep);

}  // namespace bertpretrain::cpu
