#pragma once
// bf16 matrices in the order in which tile instructions read them.
//
// A tile is 16 rows of 64 bytes. Of the left matrix A_MK it holds 16 rows m and 32 columns k as they are; of the right one B_KN
// 16 rows of pairs (k, k + 1) and 16 columns n. A panel is 32 rows of A or 32 columns of B: for every 32 of k its two tiles,
// one behind the other. What is missing to full tiles is zero. The depth K is cut into parts; panels lie part after part, so that
// what a block of the product reads at a time is one stretch, which no cache maps onto a few of its sets.

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

constexpr std::int64_t tile_depth = 32, tile_elements = 16 * tile_depth, panel_rows = 32, pair_elements = 2 * tile_elements;

/// Panels, or tiles of one, in parts of nearly the same size.
struct Parts {
    std::int64_t whole, parts;

    static Parts of_up_to(std::int64_t most, std::int64_t whole) { return {whole, (whole + most - 1) / most}; }

    std::int64_t first(std::int64_t part) const { return part * whole / parts; }
    std::int64_t count(std::int64_t part) const { return first(part + 1) - first(part); }
};

/// A matrix of bf16 as it lies in memory, with X for M of A_MK or N of B_KN.
struct AmxOperand {
    enum class Side { left, right } side;
    const Bf16* at;
    std::int64_t X, K;
    std::int64_t stride;  ///< between rows of memory
    bool K_is_contiguous;

    std::int64_t panels() const { return (X + panel_rows - 1) / panel_rows; }
    /// In pairs of tiles, up to 8 at a time: of 256 of K.
    Parts depth() const { return Parts::of_up_to(8, (K + tile_depth - 1) / tile_depth); }
    std::int64_t packed_elements() const { return panels() * depth().whole * pair_elements; }
    /// Where a part of a panel begins.
    std::int64_t offset(std::int64_t panel, std::int64_t part) const {
        return (depth().first(part) * panels() + panel * depth().count(part)) * pair_elements;
    }
};

/// Writes panels [begin, end) of those that begin at `to`, aligned to 64 bytes.
void pack_panels(const AmxOperand& operand, std::int64_t begin, std::int64_t end, Bf16* to);

}  // namespace bertpretrain::cpu
