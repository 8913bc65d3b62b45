#pragma once
// Types shared by host code and kernels; nothing here needs nvcc.

#include <cstdint>

namespace bertpretrain::cuda {

/// A bfloat16 as bits, independent of torch's and CUDA's types.
struct Bf16 {
    std::uint16_t bits;
};

/// Dropout of hidden-state rows in kernel arguments; `threshold` 0 disables it.
struct RowDropout {
    std::uint32_t key[2] = {}, site = 0, threshold = 0;
    float scale = 1;
    const std::int64_t *sample_T = nullptr, *position_T = nullptr;
};

/// The layout of a row within a block (lanes.h).
constexpr int warp_lanes = 32, warp_columns = 256;

}  // namespace bertpretrain::cuda
