// Both matrices are packed into panels (packing.h), and threads multiply blocks of panels (AmxBlocks). Where L2 holds the
// columns of B that a block needs, each thread packs them itself, so that they stay in its L2 cache. Four tile registers
// hold 32 x 32 elements of C at a time. A panel of A, up to 512 of K deep, stays in the L1 cache while the panels of B stream
// past it: their loads carry a hint that keeps them from replacing A there. Finished elements are written during the
// multiplications of the next ones (drain.h).
#include "kernels/cpu/amx/matmul.h"

#include <algorithm>
#include <cstdlib>

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "kernels/cpu/work_stealing.h"

#if defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "kernels/cpu/amx/drain.h"

namespace bertpretrain::cpu {
namespace {

/// How a matmul is cut into blocks of C, which threads compute one after the other.
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

/// The memory that the next panel multiplications read first.
struct Ahead {
    const Bf16 *a, *b;

    /// Prefetches some cache lines of it into L2. In a full block the steps of four tile multiplications add up to all of it.
    BERTPRETRAIN_AMX __attribute__((always_inline)) void step() {
        constexpr std::int64_t line_elements = 32;
#pragma GCC unroll 3
        for (int line = 0; line < 3; ++line, a += line_elements) _mm_prefetch(a, _MM_HINT_T1);
#pragma GCC unroll 2
        for (int line = 0; line < 2; ++line, b += line_elements) _mm_prefetch(b, _MM_HINT_T1);
    }
};

/// Multiplies a panel of A by a panel of B, `tiles` tile pairs deep, and writes rows of `drain` meanwhile.
/// @param before sums to continue, in the order of AmxDrain, or null: zeros @param sums receives the new sums; may be `before`
BERTPRETRAIN_AMX void multiply_panels(const Bf16* a, const Bf16* b, std::int64_t tiles, const float* before, float* sums,
                                      Ahead& ahead, AmxDrain& drain) {
    constexpr std::int64_t row_bytes = 64;
    const std::int64_t rows_per_step = (panel_rows + tiles - 1) / tiles;
    if (before != nullptr) {
        _tile_loadd(0, before, row_bytes);
        _tile_loadd(2, before + 2 * c_tile_elements, row_bytes);
        _tile_loadd(1, before + c_tile_elements, row_bytes);
        _tile_loadd(3, before + 3 * c_tile_elements, row_bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (std::int64_t k = 0; k < tiles; ++k, a += pair_elements, b += pair_elements) {
        _tile_stream_loadd(6, b, row_bytes);
        _tile_loadd(4, a, row_bytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, a + tile_elements, row_bytes);
        ahead.step();
        _tile_dpbf16ps(2, 5, 6);
        _tile_stream_loadd(7, b + tile_elements, row_bytes);
        _tile_dpbf16ps(1, 4, 7);
        drain.write_rows(rows_per_step);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sums, row_bytes);
    _tile_stored(2, sums + 2 * c_tile_elements, row_bytes);
    _tile_stored(1, sums + c_tile_elements, row_bytes);
    _tile_stored(3, sums + 3 * c_tile_elements, row_bytes);
}

/// An operand and its panels.
struct Packed {
    AmxOperand operand;
    at::Tensor memory;

    /// Returns where a part of a panel begins.
    const Bf16* panel(std::int64_t panel, std::int64_t part) const {
        return static_cast<const Bf16*>(memory.const_data_ptr()) + operand.offset(panel, part);
    }
};

at::Tensor memory_for(std::int64_t packed_elements) { return at::empty({packed_elements}, at::TensorOptions(at::kBFloat16)); }

/// One thread's panels of some columns of B, where the threads pack them.
class PackedColumns {
public:
    /// Packs these panels of B, unless they were the last ones that it packed.
    const Packed& of(const AmxOperand& b, const Range& panels) {
        if (panels.begin == panels_.begin && panels.end == panels_.end) return columns_;
        columns_.operand = b.only(panels);
        const std::int64_t elements = columns_.operand.packed_elements();
        if (!columns_.memory.defined() || columns_.memory.numel() < elements) columns_.memory = memory_for(elements);
        pack_panels(columns_.operand, 0, panels.count(), static_cast<Bf16*>(columns_.memory.mutable_data_ptr()));
        panels_ = panels;
        return columns_;
    }

private:
    Packed columns_{};
    Range panels_{};
};

/// One thread's multiplications.
class Worker {
public:
    /// @param b without memory where each thread packs the columns that it needs
    BERTPRETRAIN_AMX Worker(const AmxBlocks& blocks, const Packed& a, const Packed& b, const AmxOutput& output)
        : blocks_(blocks), a_(a), b_(b), depth_(a.operand.depth()), drain_(output) {
        const std::int64_t panels = blocks.columns_stay ? 1 : blocks.rows.most();
        memory_ = at::empty({(panels * blocks.columns.most() + 2) * c_elements}, at::TensorOptions(at::kFloat));
        finished_ = memory_.mutable_data_ptr<float>();
        sums_ = finished_ + 2 * c_elements;
    }
    BERTPRETRAIN_AMX ~Worker() {
        drain_.finish();
        _mm_sfence();  // makes the writes past the caches visible before this thread reports completion
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    BERTPRETRAIN_AMX void multiply(std::int64_t block) {
        m_ = rows_of(block);
        n_ = columns_of(block);
        if (blocks_.columns_stay) {
            const bool shared = b_.memory.defined();
            const Packed& b = shared ? b_ : columns_.of(b_.operand, n_);
            const std::int64_t first = shared ? n_.begin : 0;
            for (std::int64_t m = m_.begin; m < m_.end; ++m)
                for (std::int64_t part = 0; part < depth_.parts; ++part) {
                    const Bf16* const next = a_.panel(std::min(m + 1, a_.operand.panels() - 1), part);
                    Ahead ahead{next, next};
                    multiply_row(m, part, b.panel(first, part), sums_, ahead);
                }
            return;
        }
        // The block after this one, which need not be this thread's, stands for the one that it computes next.
        const std::int64_t next_block = std::min(block + 1, blocks_.count() - 1);
        for (std::int64_t part = 0; part < depth_.parts; ++part) {
            const bool last = part + 1 == depth_.parts;
            const std::int64_t then = last ? 0 : part + 1;
            Ahead ahead{nullptr, b_.panel((last ? columns_of(next_block) : n_).begin, then)};
            float* sums = sums_;
            for (std::int64_t m = m_.begin; m < m_.end; ++m, sums += n_.count() * c_elements) {
                ahead.a = m + 1 < m_.end ? a_.panel(m + 1, part) : a_.panel((last ? rows_of(next_block) : m_).begin, then);
                multiply_row(m, part, b_.panel(n_.begin, part), sums, ahead);
            }
        }
    }

private:
    Range rows_of(std::int64_t block) const { return blocks_.rows.range(blocks_.row_part(block)); }
    Range columns_of(std::int64_t block) const { return blocks_.columns.range(blocks_.column_part(block)); }

    /// Multiplies one depth part of a panel of A by that of all of the block's panels of B.
    /// @param b of the first of them @param sums of the panel: those of the parts before, unless this is the first, and then
    /// those with this one
    BERTPRETRAIN_AMX void multiply_row(std::int64_t m, std::int64_t part, const Bf16* b, float* sums, Ahead& ahead) {
        const std::int64_t tiles = depth_.count(part);
        const Bf16* const a = a_.panel(m, part);
        const bool last = part + 1 == depth_.parts;
        for (std::int64_t n = n_.begin; n < n_.end; ++n, b += tiles * pair_elements, sums += c_elements) {
            float* const to = last ? finished_ + turn_ * c_elements : sums;
            multiply_panels(a, b, tiles, part > 0 ? sums : nullptr, to, ahead, drain_);
            if (!last) continue;
            drain_.begin(to, m * panel_rows, n * panel_rows);
            turn_ = 1 - turn_;
        }
    }

    const AmxRegisters registers_;
    AmxBlocks blocks_;
    const Packed &a_, &b_;
    PackedColumns columns_;
    Parts depth_;  ///< in tile pairs
    AmxDrain drain_;
    at::Tensor memory_;
    float *finished_ = nullptr, *sums_ = nullptr;  ///< two times c_elements, in turns; the block's unfinished sums
    std::int64_t turn_ = 0;
    Range m_{}, n_{};  ///< the block's panels
};

AmxOperand operand(const at::Tensor& matrix, AmxOperand::Side side) {
    check(matrix.dim() == 2 && matrix.scalar_type() == at::kBFloat16 && matrix.is_cpu(),
          "amx_matmul: expected 2-D bf16 matrices on the CPU");
    const int k = side == AmxOperand::Side::left ? 1 : 0, x = 1 - k;
    const auto* at = static_cast<const Bf16*>(matrix.const_data_ptr());
    if (matrix.stride(k) == 1) return {side, at, matrix.size(x), matrix.size(k), matrix.stride(x), true};
    check(matrix.stride(x) == 1, "amx_matmul: expected contiguous rows or columns");
    return {side, at, matrix.size(x), matrix.size(k), matrix.stride(k), false};
}

Packed packed(const AmxOperand& operand) {
    Packed packed{operand, memory_for(operand.packed_elements())};
    auto* to = static_cast<Bf16*>(packed.memory.mutable_data_ptr());
    const Parts parts{operand.panels(), std::min(operand.panels(), operation_threads())};  // long rows suit the prefetcher
    for_each_piece(parts.parts, [&](std::int64_t part) { pack_panels(operand, parts.first(part), parts.first(part + 1), to); });
    return packed;
}

AmxOutput output(const at::Tensor& out_MN, bool add) {
    const bool fp32 = out_MN.scalar_type() == at::kFloat;
    return {fp32 ? out_MN.mutable_data_ptr<float>() : nullptr, fp32 ? nullptr : static_cast<Bf16*>(out_MN.mutable_data_ptr()),
            add, out_MN.size(0), out_MN.size(1)};
}

}  // namespace

void amx_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add) {
    const AmxOperand a = operand(a_MK, AmxOperand::Side::left), b = operand(b_KN, AmxOperand::Side::right);
    check(a.K > 0 && a.K == b.K && out_MN.size(0) == a.X && out_MN.size(1) == b.X && out_MN.is_contiguous() &&
              (out_MN.scalar_type() == at::kFloat || !add),
          "amx_matmul: wrong shapes or dtype: ", a_MK.sizes(), " times ", b_KN.sizes(), " into ", out_MN.sizes());
    const std::int64_t threads = operation_threads();
    const AmxBlocks blocks = AmxBlocks::of(a, b, threads);
    const Packed a_panels = packed(a), b_panels = blocks.threads_pack_columns(threads) ? Packed{b, {}} : packed(b);
    share_pieces(blocks.count(), [&](const auto& take_all) {
        Worker worker(blocks, a_panels, b_panels, output(out_MN, add));
        take_all([&](std::int64_t block) { worker.multiply(block); });
    });
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

void amx_matmul(const at::Tensor&, const at::Tensor&, const at::Tensor&, bool) {
    std::abort();
}  // unreachable: has_amx() is false

}  // namespace bertpretrain::cpu

#endif
