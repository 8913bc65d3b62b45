#pragma once
// What host code and kernels both name; nothing here needs nvcc.

#include <cstdint>

namespace bertpretrain::cuda {

/// The bits of a bfloat16, so that neither torch's nor CUDA's type is needed.
struct Bf16 {
    std::uint16_t bits;
};

/// Dropout of whole rows as kernels see it; `threshold` 0 turns it off.
struct RowDropout {
    std::uint32_t key[2] = {}, site = 0, threshold = 0;
    float scale = 1;
    const std::int64_t *sample_T = nullptr, *position_T = nullptr;
};

/// How a row lies in a block (lanes.h).
constexpr int warp_lanes = 32, warp_columns = 256;

}  // namespace bertpretrain::cuda
