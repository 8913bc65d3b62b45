#pragma once
// Inputs of all attention kernels.

#include <algorithm>

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

constexpr int keys_of_kept = 128, kept_words = 4;

/// Which probabilities dropout kept on tensor cores, written by the forward for the backward, 32 per word: the words of (head,
/// 128 keys, query) are 4 adjacent ones, for c from 0 to 3. Bit t + 16j of word c is key 8t + 2c + j of the 128.
struct KeptMasks {
    unsigned* words_NGT4;  ///< null without dropout; not written for keys that do not exist or that no query of a tile reads
    int groups;            ///< G, of 128 keys each: for 128 queries within a window, those around them (first_kept_group())
};

/// Returns G.
inline std::int64_t kept_groups(std::int64_t longest, std::int64_t reach) {
    const auto groups = [](std::int64_t keys) { return (keys + keys_of_kept - 1) / keys_of_kept; };
    return std::min(groups(longest), 1 + 2 * groups(reach));
}

/// Where a backward on tensor cores writes the gradient of queries, keys and values.
struct QkvGradient {
    Bf16* rows_T3H;
    Fp8Rows fp8{};  ///< in e5m2, instead of rows_T3H
};

}  // namespace bertpretrain::cuda
