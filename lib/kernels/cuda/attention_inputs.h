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

/// kernels/interface/sequence_layout.h, SequenceTiles.
struct TilesOfRows {
    std::int64_t count;
    const std::int64_t *tiles_P, *first_tile_B;
};
constexpr int wide_tile_rows = 128, narrow_tile_rows = 64;

/// @tparam W dtype of qkv and of the context
template <class W>
struct AttentionInputs {
    std::int64_t sequences, heads, head_size, rows;  ///< `rows` is T; rows after the last sequence belong to no sequence
    std::int64_t longest;                            ///< length of the longest sequence
    bool has_window;                                 ///< whether a token of some sequence does not attend to all others
    int reach;                                       ///< tokens on each side that a token attends to
    const std::int64_t *starts_B1, *samples_B;
    TilesOfRows wide_tiles, narrow_tiles;
    const W* qkv_T3H;
    const float* bias_3H;
    AttentionDropout dropout;
};

/// Where a backward on tensor cores writes the gradient of queries, keys and values.
struct QkvGradient {
    Bf16* rows_T3H;
    Fp8Rows fp8{};  ///< in e5m2, instead of rows_T3H
};

}  // namespace bertpretrain::cuda
