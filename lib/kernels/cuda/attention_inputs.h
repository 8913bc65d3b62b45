#pragma once
// Inputs of all attention kernels.

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// Dropout of probabilities in kernel arguments; `threshold` 0 disables it.
struct AttentionDropout {
    PhiloxKeys keys;
    std::uint32_t site = 0, threshold = 0;
    float scale = 1;
};

/// @tparam W dtype of qkv and of the context
template <class W>
struct AttentionInputs {
    std::int64_t sequences, heads, head_size, rows;  ///< `rows` is T; rows after the last sequence belong to no sequence
    std::int64_t longest;                            ///< length of the longest sequence
    const std::int64_t *starts_B1, *samples_B;
    const W* qkv_T3H;
    const float* bias_3H;
    AttentionDropout dropout;
};

}  // namespace bertpretrain::cuda
