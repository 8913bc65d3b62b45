#pragma once
// How the matmul by AMX tiles (matmul.cpp) is cut into blocks of C, which threads compute one after the other.

#include "kernels/cpu/amx/packing.h"

namespace bertpretrain::cpu {

struct AmxBlocks {
    Parts rows, columns;  ///< of C, in panels
    /// Whether the L2 cache holds all of B that a block reads. Then a block computes one panel of A after the other, each to its
    /// full depth, and blocks of the same columns follow each other, so that a thread may keep these columns of B. Otherwise it
    /// computes one depth part after the other, for all of its panels, and L2 holds the block's sums and that part of B.
    bool columns_stay;

    /// @param threads that share the blocks: each gets at least four, or all get as many, where C has enough rows
    static AmxBlocks of(const AmxOperand& a, const AmxOperand& b, std::int64_t threads) {
        constexpr std::int64_t kept_bytes = 1 << 20;  // half of the L2 cache of processors with AMX
        const std::int64_t panel_bytes = b.depth().whole * pair_elements * static_cast<std::int64_t>(sizeof(Bf16));
        const bool stay = panel_bytes * 16 <= kept_bytes;
        AmxBlocks blocks{Parts::of_up_to(16, a.panels()), Parts::of_up_to(stay ? 16 : 12, b.panels()), stay};
        while (blocks.count() < 4 * threads && blocks.count() % threads != 0 && blocks.rows.parts < blocks.rows.whole)
            ++blocks.rows.parts;
        return blocks;
    }

    /// Whether each thread should pack the columns of B that it needs. That saves writing all of B to memory and reading it
    /// again, but with more threads than parts of columns, several threads would pack the same ones.
    bool threads_pack_columns(std::int64_t threads) const { return columns_stay && columns.parts >= threads; }

    std::int64_t count() const { return rows.parts * columns.parts; }
    /// Return which part of the rows, or of the columns, a block computes.
    std::int64_t row_part(std::int64_t block) const { return columns_stay ? block % rows.parts : block / columns.parts; }
    std::int64_t column_part(std::int64_t block) const { return columns_stay ? block / rows.parts : block % columns.parts; }
};

}  // namespace bertpretrain::cpu
