#pragma once
// bf16 matrices in the order in which tile instructions read them.
//
// A tile is 16 rows of 64 bytes. Of the left matrix A_MK it holds 16 rows m and 32 columns k as they are; of the right one B_KN
// 16 rows of pairs (k, k + 1) and 16 columns n. A panel is 32 rows of A or 32 columns of B: for every 32 of k its two tiles,
// one behind the other. What is missing to full tiles is zero.

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

constexpr std::int64_t tile_depth = 32, tile_elements = 16 * tile_depth, panel_rows = 32;

/// A matrix of bf16 as it lies in memory, with X for M of A_MK or N of B_KN.
struct TileOperand {
    enum class Side { left, right } side;
    const Bf16* at;
    std::int64_t X, K;
    std::int64_t stride;  ///< between rows of memory
    bool K_is_contiguous;

    std::int64_t panels() const { return (X + panel_rows - 1) / panel_rows; }
    std::int64_t panel_elements() const { return (K + tile_depth - 1) / tile_depth * tile_depth * panel_rows; }
};

/// Writes panels [begin, end), of which the first lies at `to`, aligned to 64 bytes.
void pack_panels(const TileOperand& operand, std::int64_t begin, std::int64_t end, Bf16* to);

}  // namespace bertpretrain::cpu
