// Both matrices are packed into panels (panel_kernel.h), and threads multiply blocks of panels. A part of a panel of B stays in
// the L1 cache while the block's panels of A stream past it from L2.
#include "kernels/cpu/panel_matmul.h"

#include <algorithm>

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/work_stealing.h"

namespace bertpretrain::cpu {
namespace {

/// How C is divided into blocks.
struct PanelBlocks {
    Parts rows, columns;  ///< in panels

    /// A block has up to 12 panels of A and 384 columns. In the L2 cache, one part of these panels takes up to 108 KiB, and the
    /// block's sums take as much (AVX2) or twice that (AVX-512, with an L2 of 1 MiB).
    /// @param threads  each gets at least four blocks, and all as many unless they get 16, where C has enough rows
    static PanelBlocks of(const PanelKernel& kernel, std::int64_t row_panels, std::int64_t column_panels, std::int64_t threads) {
        PanelBlocks blocks{Parts::of_up_to(12, row_panels), Parts::of_up_to(384 / kernel.columns, column_panels)};
        const auto are_fair = [&] {
            return blocks.count() >= 16 * threads || (blocks.count() >= 4 * threads && blocks.count() % threads == 0);
        };
        while (!are_fair() && blocks.rows.parts < blocks.rows.whole) ++blocks.rows.parts;
        return blocks;
    }
    std::int64_t count() const { return rows.parts * columns.parts; }
};

/// The result and how it is written; one of the pointers is null.
struct Output {
    float* fp32;
    Bf16* rounded;
    bool add;  ///< to the fp32 one
    std::int64_t M, N;

    void write(const PanelKernel& kernel, const float* sums, std::int64_t row, std::int64_t column) const {
        const std::int64_t at = row * N + column;
        if (fp32 != nullptr) kernel.write(sums, fp32 + at, N, M - row, N - column, add);
        else kernel.write_rounded(sums, rounded + at, N, M - row, N - column);
    }
};

void multiply_block(const PanelKernel& kernel, const Panels& a, const Panels& b, const PanelBlocks& blocks, std::int64_t block,
                    float* sums, const Output& out) {
    const Range rows = blocks.rows.range(block % blocks.rows.parts), columns = blocks.columns.range(block / blocks.rows.parts);
    const Parts depths = a.operand().depth();
    for (std::int64_t part = 0; part < depths.parts; ++part) {
        float* tile = sums;
        for (std::int64_t n = columns.begin; n < columns.end; ++n) {
            const PanelWord* const right = b.at(n, part);
            for (std::int64_t m = rows.begin; m < rows.end; ++m, tile += kernel.tile_elements()) {
                const PanelWord* const left = a.at(m, part);
                const float* const sums_before = part > 0 ? tile : nullptr;
                if (a.as_is()) kernel.multiply_rows(left, a.row_step(), right, depths.count(part), sums_before, tile);
                else kernel.multiply(left, right, depths.count(part), sums_before, tile);
                if (part + 1 < depths.parts) continue;
                const std::int64_t row = m * kernel.rows, before = row - a.first_row(m);  // rows of the panel before
                out.write(kernel, tile + before * kernel.columns, row, n * kernel.columns);
            }
        }
    }
}

PanelOperand operand(const PanelKernel& kernel, const at::Tensor& matrix, PanelOperand::Side side) {
    const int k = side == PanelOperand::Side::left ? 1 : 0, x = 1 - k;
    const bool K_is_contiguous = matrix.stride(k) == 1;
    check(K_is_contiguous || matrix.stride(x) == 1, "panel_matmul: expected contiguous rows or columns");
    return {side,
            static_cast<const Bf16*>(matrix.const_data_ptr()),
            matrix.size(x),
            matrix.size(k),
            matrix.stride(K_is_contiguous ? x : k),
            K_is_contiguous,
            side == PanelOperand::Side::left ? kernel.rows : kernel.columns,
            kernel.k_per_word,
            kernel.deepest()};
}

}  // namespace

void panel_matmul(const PanelKernel& kernel, const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add) {
    check(a_MK.dim() == 2 && b_KN.dim() == 2 && a_MK.size(1) > 0 && a_MK.size(1) == b_KN.size(0) &&
              out_MN.size(0) == a_MK.size(0) && out_MN.size(1) == b_KN.size(1) && out_MN.is_contiguous(),
          "panel_matmul: wrong shapes: ", a_MK.sizes(), " times ", b_KN.sizes(), " into ", out_MN.sizes());
    const bool fp32 = out_MN.scalar_type() == at::kFloat;
    check(a_MK.scalar_type() == at::kBFloat16 && b_KN.scalar_type() == at::kBFloat16 &&
              (fp32 || (out_MN.scalar_type() == at::kBFloat16 && !add)),
          "panel_matmul: wrong dtypes: ", a_MK.scalar_type(), " times ", b_KN.scalar_type(), " into ", out_MN.scalar_type());
    const PanelOperand of_a = operand(kernel, a_MK, PanelOperand::Side::left),
                       of_b = operand(kernel, b_KN, PanelOperand::Side::right);
    const Panels a(kernel, of_a), b(kernel, of_b);
    const Output out{fp32 ? out_MN.mutable_data_ptr<float>() : nullptr,
                     fp32 ? nullptr : static_cast<Bf16*>(out_MN.mutable_data_ptr()), add, of_a.X, of_b.X};
    pack(kernel, a, b);
    const PanelBlocks blocks = PanelBlocks::of(kernel, of_a.panels(), of_b.panels(), operation_threads());
    share_pieces(blocks.count(), [&](const auto& take_all) {
        const at::Tensor sums = at::empty({blocks.rows.most() * blocks.columns.most() * kernel.tile_elements()}, at::kFloat);
        take_all([&](std::int64_t block) { multiply_block(kernel, a, b, blocks, block, sums.mutable_data_ptr<float>(), out); });
    });
}

}  // namespace bertpretrain::cpu
