#pragma once
// What the matmul by panels (panel_matmul.h) needs of an instruction set.
//
// A panel is some rows of the left matrix A_MK or columns of the right matrix B_KN: for each word of K, one word of each row or
// column. A word is an fp32 number, or a pair of bf16 numbers that follow each other in K. Incomplete panels are padded with
// zeros. The depth, K counted in words, is split into parts, and panels are stored part after part, so that the matmul reads
// contiguous memory.

#include <cstdint>

#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/parts.h"
#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

using PanelWord = std::uint32_t __attribute__((may_alias));

/// A bf16 matrix in its original layout; X is M for A_MK and N for B_KN.
struct PanelOperand {
    enum class Side { left, right } side;
    const Bf16* at;
    std::int64_t X, K;
    std::int64_t stride;  ///< between rows of memory
    bool K_is_contiguous;
    std::int64_t width;       ///< of a panel, in rows or columns
    std::int64_t k_per_word;  ///< 1, or 2: pairs
    std::int64_t deepest;     ///< words of K in a part, at most

    std::int64_t panels() const { return (X + width - 1) / width; }
    std::int64_t words() const { return (K + k_per_word - 1) / k_per_word; }
    Parts depth() const { return Parts::of_up_to(deepest, words()); }
    std::int64_t packed_words() const { return panels() * width * words(); }
    /// Returns where a part of a panel begins, in words.
    std::int64_t offset(std::int64_t panel, std::int64_t part) const {
        return (depth().first(part) * panels() + panel * depth().count(part)) * width;
    }
};

struct PanelKernel {
    std::int64_t rows, columns;  ///< of a tile of C: the widths of A's and B's panels
    std::int64_t k_per_word;

    /// Packs one part of some panels. @param to where all panels begin
    void (*pack)(const PanelOperand& operand, Range panels, std::int64_t part, PanelWord* to);

    /// Multiplies a panel of A by a panel of B, `depth` words deep.
    /// @param before sums to continue, a tile's rows x columns numbers, or null: zeros
    /// @param sums receives the new sums; may be `before`. Both are aligned to 64 bytes.
    void (*multiply)(const PanelWord* a, const PanelWord* b, std::int64_t depth, const float* before, float* sums);

    /// The same with rows of A in their original layout, where K is contiguous and rows are `step` words apart. Null: cannot.
    void (*multiply_rows)(const PanelWord* a, std::int64_t step, const PanelWord* b, std::int64_t depth, const float* before,
                          float* sums);

    /// Write finished sums to rows of C, which are `stride` apart: those of a tile that begins at `to` and has this many rows and
    /// columns in C. The first one adds to what is there if `add`, the second one rounds to nearest even.
    void (*write)(const float* sums, float* to, std::int64_t stride, std::int64_t rows, std::int64_t columns, bool add);
    void (*write_rounded)(const float* sums, Bf16* to, std::int64_t stride, std::int64_t rows, std::int64_t columns);

    std::int64_t tile_elements() const { return rows * columns; }
    /// Returns the words of K in a part, at most: with them, a panel of B takes 24 of the 32 KiB of an L1 cache.
    std::int64_t deepest() const { return 24 * 1024 / static_cast<std::int64_t>(sizeof(PanelWord)) / columns; }
};

/// Returns the best kernel for an instruction set (`amx` includes AVX-512), or null: the sets below `avx2` have none.
const PanelKernel* panel_kernel(InstructionSet set = instruction_set());

// Of AVX2, of AVX-512 without and with instructions for pairs of bf16. Only for files compiled for x86-64.
extern const PanelKernel avx2_panels, avx512_panels, avx512_bf16_panels;

}  // namespace bertpretrain::cpu
