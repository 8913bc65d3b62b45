#pragma once
// What attention's kernels read, whichever they are.

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// Dropout of probabilities as kernels see it; `threshold` 0 turns it off.
struct AttentionDropout {
    std::uint32_t key[2] = {}, site = 0, threshold = 0;
    float scale = 1;
};

/// @tparam W type of the products and the context
template <class W>
struct AttentionInputs {
    std::int64_t sequences, heads, head_size, rows;  ///< rows T, of which those after the last sequence belong to none
    std::int64_t longest;                            ///< sequence
    const std::int64_t *starts_B1, *samples_B;
    const W* qkv_T3H;
    const float* bias_3H;
    AttentionDropout dropout;
};

}  // namespace bertpretrain::cuda
