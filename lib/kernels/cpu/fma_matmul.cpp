// Both matrices are packed into panels (fma_packing.h), and threads multiply blocks of panels. A kernel computes 6 x 16 elements
// of C in 12 registers. A part of a panel of B stays in the L1 cache while the block's panels of A stream past it from L2.
#include "kernels/cpu/fma_matmul.h"

#include <algorithm>
#include <cstdlib>

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/work_stealing.h"

#if defined(__x86_64__)
#include "kernels/cpu/fma_kernel.h"

namespace bertpretrain::cpu {
namespace {

/// How C is divided into blocks.
struct FmaBlocks {
    Parts rows, columns;  ///< in panels

    /// A block's panels of A, one part deep, and its sums take up to 108 KiB each of the L2 cache.
    /// @param threads  each gets at least four blocks where C has enough rows
    static FmaBlocks of(std::int64_t row_panels, std::int64_t column_panels, std::int64_t threads) {
        FmaBlocks blocks{Parts::of_up_to(12, row_panels), Parts::of_up_to(24, column_panels)};
        while (blocks.count() < 4 * threads && blocks.rows.parts < blocks.rows.whole) ++blocks.rows.parts;
        return blocks;
    }
    std::int64_t count() const { return rows.parts * columns.parts; }
};

/// An operand and its panels.
struct FmaPanels {
    FmaOperand operand;
    at::Tensor memory;
    float* data;  ///< of `memory`, which checks its type and storage each time it is asked

    explicit FmaPanels(const FmaOperand& of)
        : operand(of), memory(at::empty({of.packed_elements()}, at::kFloat)), data(memory.mutable_data_ptr<float>()) {}
    const float* panel(std::int64_t panel, std::int64_t part) const { return data + operand.offset(panel, part); }
};

void pack_both(const FmaPanels& a, const FmaPanels& b) {
    constexpr std::int64_t panels_at_once = 4;
    const Parts of_a = Parts::of_up_to(panels_at_once * fma_columns / fma_rows, a.operand.panels());
    const Parts of_b = Parts::of_up_to(panels_at_once, b.operand.panels());
    for_each_piece(of_a.parts + of_b.parts, [&](std::int64_t piece) {
        if (piece < of_a.parts) return pack_panels(a.operand, of_a.first(piece), of_a.first(piece + 1), a.data);
        const std::int64_t part = piece - of_a.parts;
        pack_panels(b.operand, of_b.first(part), of_b.first(part + 1), b.data);
    });
}

template <class Out>
BERTPRETRAIN_FMA void multiply_block(const FmaPanels& a, const FmaPanels& b, const FmaBlocks& blocks, std::int64_t block,
                                     float* sums, Out* out, bool add) {
    const Range rows = blocks.rows.range(block % blocks.rows.parts), columns = blocks.columns.range(block / blocks.rows.parts);
    const std::int64_t M = a.operand.X, N = b.operand.X;
    const Parts depths = a.operand.depth();
    for (std::int64_t part = 0; part < depths.parts; ++part) {
        const std::int64_t depth = depths.count(part);
        const float* right = b.panel(columns.begin, part);
        float* tile = sums;
        for (std::int64_t n = columns.begin; n < columns.end; ++n, right += depth * fma_columns) {
            const float* left = a.panel(rows.begin, part);
            for (std::int64_t m = rows.begin; m < rows.end; ++m, left += depth * fma_rows, tile += fma_tile_elements) {
                multiply_panels(left, right, depth, part > 0 ? tile : nullptr, tile);
                if (part + 1 < depths.parts) continue;
                const std::int64_t row = m * fma_rows, column = n * fma_columns;
                write_tile(tile, out + row * N + column, N, M - row, N - column, add);
            }
        }
    }
}

template <class Out>
void multiply(const FmaOperand& of_a, const FmaOperand& of_b, Out* out, bool add) {
    const FmaPanels a(of_a), b(of_b);
    pack_both(a, b);
    const FmaBlocks blocks = FmaBlocks::of(of_a.panels(), of_b.panels(), operation_threads());
    share_pieces(blocks.count(), [&](const auto& take_all) {
        const at::Tensor sums = at::empty({blocks.rows.most() * blocks.columns.most() * fma_tile_elements}, at::kFloat);
        take_all([&](std::int64_t block) { multiply_block(a, b, blocks, block, sums.mutable_data_ptr<float>(), out, add); });
    });
}

FmaOperand operand(const at::Tensor& matrix, bool left) {
    const int k = left ? 1 : 0, x = 1 - k;
    const bool K_is_contiguous = matrix.stride(k) == 1;
    check(K_is_contiguous || matrix.stride(x) == 1, "fma_matmul: expected contiguous rows or columns");
    return {static_cast<const Bf16*>(matrix.const_data_ptr()),
            matrix.size(x),
            matrix.size(k),
            matrix.stride(K_is_contiguous ? x : k),
            K_is_contiguous,
            left ? fma_rows : fma_columns};
}

}  // namespace

bool has_fma_matmul() { return instruction_set() == InstructionSet::avx2; }

void fma_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add) {
    check(a_MK.dim() == 2 && b_KN.dim() == 2 && a_MK.size(1) == b_KN.size(0) && out_MN.size(0) == a_MK.size(0) &&
              out_MN.size(1) == b_KN.size(1) && out_MN.is_contiguous(),
          "fma_matmul: wrong shapes: ", a_MK.sizes(), " times ", b_KN.sizes(), " into ", out_MN.sizes());
    check(a_MK.scalar_type() == at::kBFloat16 && b_KN.scalar_type() == at::kBFloat16 &&
              (out_MN.scalar_type() == at::kFloat || (out_MN.scalar_type() == at::kBFloat16 && !add)),
          "fma_matmul: wrong dtypes: ", a_MK.scalar_type(), " times ", b_KN.scalar_type(), " into ", out_MN.scalar_type());
    const FmaOperand a = operand(a_MK, true), b = operand(b_KN, false);
    if (out_MN.scalar_type() == at::kFloat) multiply(a, b, out_MN.mutable_data_ptr<float>(), add);
    else multiply(a, b, static_cast<Bf16*>(out_MN.mutable_data_ptr()), add);
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

bool has_fma_matmul() { return false; }

void fma_matmul(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool) { std::abort(); }  // unreachable

}  // namespace bertpretrain::cpu

#endif
