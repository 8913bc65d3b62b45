#pragma once
// Packs bf16 matrices into fp32 panels, in the order in which the multiply-add kernel (fma_kernel.h) reads them.
//
// A panel is 6 rows of the left matrix A_MK or 16 columns of the right matrix B_KN: for each k, its 6 or 16 numbers. Incomplete
// panels are padded with zeros. The depth K is split into parts, and panels are stored part after part, so that the matmul reads
// contiguous memory.

#include <cstdint>

#include "kernels/cpu/parts.h"
#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

constexpr std::int64_t fma_rows = 6, fma_columns = 16;

/// A bf16 matrix in its original layout; X is M for A_MK and N for B_KN.
struct FmaOperand {
    const Bf16* at;
    std::int64_t X, K;
    std::int64_t stride;  ///< between rows of memory
    bool K_is_contiguous;
    std::int64_t width;  ///< of a panel: fma_rows or fma_columns

    std::int64_t panels() const { return (X + width - 1) / width; }
    /// K in parts of up to 384: with them, a panel of B takes 24 of the 32 KiB of an L1 cache.
    Parts depth() const { return Parts::of_up_to(384, K); }
    std::int64_t packed_elements() const { return panels() * width * K; }
    /// Returns where a part of a panel begins, in elements.
    std::int64_t offset(std::int64_t panel, std::int64_t part) const {
        return (depth().first(part) * panels() + panel * depth().count(part)) * width;
    }
};

/// Packs the panels [begin, end) of all panels starting at `to`.
void pack_panels(const FmaOperand& operand, std::int64_t begin, std::int64_t end, float* to);

}  // namespace bertpretrain::cpu
