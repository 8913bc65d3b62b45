#pragma once
// Packs bf16 matrices into the order in which AMX tile instructions read them.
//
// A tile is 16 rows of 64 bytes. For the left matrix A_MK it holds 16 rows m and 32 columns k unchanged; for the right matrix
// B_KN, 16 rows of pairs (k, k + 1) and 16 columns n. A panel is 32 rows of A or 32 columns of B: two tiles for every 32 of k,
// one after the other. Incomplete tiles are padded with zeros. The depth K is split into parts, and panels are stored part after
// part. So a block of the matmul reads contiguous memory, which caches do not map to just a few of their sets.

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/parts.h"
#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

constexpr std::int64_t tile_depth = 32, tile_elements = 16 * tile_depth, panel_rows = 32, pair_elements = 2 * tile_elements;

/// A bf16 matrix in its original layout; X is M for A_MK and N for B_KN.
struct AmxOperand {
    enum class Side { left, right } side;
    const Bf16* at;
    std::int64_t X, K;
    std::int64_t stride;  ///< between rows of memory
    bool K_is_contiguous;

    std::int64_t panels() const { return (X + panel_rows - 1) / panel_rows; }
    /// K in tile pairs, in parts of up to 16 pairs (512 of K).
    Parts depth() const { return Parts::of_up_to(16, (K + tile_depth - 1) / tile_depth); }
    std::int64_t packed_elements() const { return panels() * depth().whole * pair_elements; }
    /// Returns the matrix of these panels alone.
    AmxOperand only(const Range& range) const {
        const std::int64_t first = range.begin * panel_rows, end = std::min(range.end * panel_rows, X);
        return {side, at + first * (K_is_contiguous ? stride : 1), end - first, K, stride, K_is_contiguous};
    }
    /// Returns where a part of a panel begins, in elements.
    std::int64_t offset(std::int64_t panel, std::int64_t part) const {
        return (depth().first(part) * panels() + panel * depth().count(part)) * pair_elements;
    }
};

/// Packs the panels [begin, end) of all panels starting at `to`, which is aligned to 64 bytes.
void pack_panels(const AmxOperand& operand, std::int64_t begin, std::int64_t end, Bf16* to);

}  // namespace bertpretrain::cpu
