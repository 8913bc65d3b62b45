// Blocking: both matrices are packed into panels (amx_packing.h). A thread computes a block of C of up to 8 x 16 panels, up to
// 256 of K at a time. Then one panel of A stays in the L1 cache while the panels of B stream past, and L2 holds all of these
// panels, the fp32 block of C, and the next 256 of K, which are prefetched meanwhile. Four tile registers hold 32 x 32 elements
// of C at a time.
#include "kernels/cpu/amx_matmul.h"

#include <algorithm>
#include <cstdlib>

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include "core/error.h"
#include "kernels/cpu/amx_packing.h"

#if defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "kernels/cpu/amx_registers.h"

namespace bertpretrain::cpu {
namespace {

constexpr std::int64_t block_rows = 8, block_columns = 16;  // maximum, in panels
constexpr std::int64_t numbers_of_pair = panel_rows * panel_rows;
constexpr std::int64_t line_elements = 32;
/// Cache lines to prefetch per step of four tile multiplications. In a full block they add up to all that the next part reads.
constexpr std::int64_t lines_ahead =
    (block_rows + block_columns) * (pair_elements / line_elements) / (block_rows * block_columns);

/// Multiplies a panel of A by a panel of B, `tiles` tile pairs deep, into 32 x 32 contiguous elements of C (= or +=). Prefetches
/// from `ahead` meanwhile.
BERTPRETRAIN_AMX void multiply_panels(const Bf16* a, const Bf16* b, std::int64_t tiles, bool add, const Bf16* ahead, float* c) {
    constexpr std::int64_t stride = panel_rows * static_cast<std::int64_t>(sizeof(float));
    float* const lower = c + numbers_of_pair / 2;
    if (add) {
        _tile_loadd(0, c, stride);
        _tile_loadd(1, c + 16, stride);
        _tile_loadd(2, lower, stride);
        _tile_loadd(3, lower + 16, stride);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (std::int64_t k = 0; k < tiles; ++k, a += pair_elements, b += pair_elements) {
        _tile_loadd(6, b, 64);
        _tile_loadd(4, a, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, a + tile_elements, 64);
#pragma GCC unroll 8
        for (std::int64_t line = 0; line < lines_ahead; ++line, ahead += line_elements) _mm_prefetch(ahead, _MM_HINT_T1);
        _tile_dpbf16ps(2, 5, 6);
        _tile_loadd(7, b + tile_elements, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, stride);
    _tile_stored(1, c + 16, stride);
    _tile_stored(2, lower, stride);
    _tile_stored(3, lower + 16, stride);
}

/// Up to 32 x 32 elements at their place in C.
struct Corner {
    std::int64_t rows, columns, stride;
};

BERTPRETRAIN_AMX_INLINE __mmask16 there(const Corner& corner, std::int64_t n) {
    return static_cast<__mmask16>((std::uint32_t{1} << std::clamp<std::int64_t>(corner.columns - n, 0, 16)) - 1);
}

BERTPRETRAIN_AMX_INLINE __m512i rounded_row(const float* from) {
    return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_load_ps(from + 16), _mm512_load_ps(from)));
}

BERTPRETRAIN_AMX void put_rounded(const float* from, const Corner& corner, Bf16* to) {
    const auto there = static_cast<__mmask32>((std::uint64_t{1} << corner.columns) - 1);
    for (std::int64_t m = 0; m < corner.rows; ++m, from += panel_rows, to += corner.stride)
        _mm512_mask_storeu_epi16(to, there, rounded_row(from));
}

BERTPRETRAIN_AMX void add_fp32(const float* from, const Corner& corner, float* to) {
    for (std::int64_t m = 0; m < corner.rows; ++m, from += panel_rows, to += corner.stride)
        for (std::int64_t n = 0; n < panel_rows; n += 16) {
            const __mmask16 mask = there(corner, n);
            _mm512_mask_storeu_ps(to + n, mask, _mm512_add_ps(_mm512_load_ps(from + n), _mm512_maskz_loadu_ps(mask, to + n)));
        }
}

/// Writes full cache lines past the caches, so that C is not first read into them. By the time C is read, much more has been
/// written.
BERTPRETRAIN_AMX void put_fp32(const float* from, const Corner& corner, float* to) {
    constexpr std::uintptr_t line_bytes = 64;
    for (std::int64_t m = 0; m < corner.rows; ++m, from += panel_rows, to += corner.stride)
        for (std::int64_t n = 0; n < panel_rows; n += 16) {
            const __m512 sum = _mm512_load_ps(from + n);
            const bool fills_line = n + 16 <= corner.columns && reinterpret_cast<std::uintptr_t>(to + n) % line_bytes == 0;
            if (fills_line) _mm512_stream_ps(to + n, sum);
            else _mm512_mask_storeu_ps(to + n, there(corner, n), sum);
        }
}

/// The output C; one of the pointers is null.
struct Result {
    float* fp32;
    Bf16* rounded;
    bool add;  ///< to the fp32 one
};

/// One depth part of consecutive panels.
struct Panels {
    const Bf16* first;
    std::int64_t count, elements;  ///< number of panels, and elements per panel

    const Bf16* panel(std::int64_t n) const { return first + n * elements; }
};

/// Distributes the cache lines of the panels that are needed next over the panel multiplications before them.
class Ahead {
public:
    Ahead(const Panels& b, const Panels& a) : at_(b.first), end_(b.panel(b.count)), then_(a) {}

    /// Returns where the next panel multiplication, `tiles` deep, starts to prefetch: first in B, then in A, and then in A again.
    const Bf16* take(std::int64_t tiles) {
        const Bf16* const from = at_;
        at_ += tiles * lines_ahead * line_elements;
        if (at_ < end_) return from;
        at_ = then_.first;
        end_ = then_.panel(then_.count);
        return from;
    }

private:
    const Bf16 *at_, *end_;
    Panels then_;
};

class Blocks {
public:
    Blocks(const AmxOperand& a, const AmxOperand& b, const Bf16* a_panels, const Bf16* b_panels, const Result& result)
        : rows_(Parts::of_up_to(block_rows, a.panels())),
          columns_(Parts::of_up_to(block_columns, b.panels())),
          depth_(a.depth()),
          a_(a),
          b_(b),
          a_panels_(a_panels),
          b_panels_(b_panels),
          result_(result) {
        // Use smaller blocks if there would be fewer than four per thread and the threads would get unequal numbers of them.
        const std::int64_t threads = at::get_num_threads();
        while (count() < 4 * threads && count() % threads != 0 && rows_.parts < rows_.whole) ++rows_.parts;
    }

    std::int64_t count() const { return rows_.parts * columns_.parts; }

    /// @param room scratch memory for a block of C in fp32
    BERTPRETRAIN_AMX void multiply(std::int64_t begin, std::int64_t end, float* room) const {
        const AmxRegisters registers;
        for (std::int64_t block = begin; block < end; ++block) multiply_block(block, std::min(block + 1, end - 1), room);
        _mm_sfence();  // makes the writes past the caches visible before this thread reports completion
    }

private:
    /// Return one depth part of the block's panels of A, or of B.
    Panels of_a(std::int64_t block, std::int64_t depth) const {
        return part_of(a_, a_panels_, rows_, block / columns_.parts, depth);
    }
    Panels of_b(std::int64_t block, std::int64_t depth) const {
        return part_of(b_, b_panels_, columns_, block % columns_.parts, depth);
    }
    static Panels part_of(const AmxOperand& operand, const Bf16* panels, const Parts& parts, std::int64_t part,
                          std::int64_t depth) {
        return {panels + operand.offset(parts.first(part), depth), parts.count(part),
                operand.depth().count(depth) * pair_elements};
    }

    void multiply_block(std::int64_t block, std::int64_t next_block, float* room) const {
        for (std::int64_t depth = 0; depth < depth_.parts; ++depth) {
            const Panels a = of_a(block, depth), b = of_b(block, depth);
            const bool last = depth + 1 == depth_.parts;
            const std::int64_t needs = last ? next_block : block, needs_depth = last ? 0 : depth + 1, tiles = depth_.count(depth);
            Ahead ahead(of_b(needs, needs_depth), of_a(needs, needs_depth));
            float* c = room;
            for (std::int64_t m = 0; m < a.count; ++m)
                for (std::int64_t n = 0; n < b.count; ++n, c += numbers_of_pair) {
                    multiply_panels(a.panel(m), b.panel(n), tiles, depth > 0, ahead.take(tiles), c);
                    if (last) put(rows_.first(block / columns_.parts) + m, columns_.first(block % columns_.parts) + n, c);
                }
        }
    }

    void put(std::int64_t m, std::int64_t n, const float* c) const {
        const std::int64_t row = m * panel_rows, column = n * panel_rows, N = b_.X;
        const Corner corner{std::min(panel_rows, a_.X - row), std::min(panel_rows, N - column), N};
        if (result_.add) add_fp32(c, corner, result_.fp32 + row * N + column);
        else if (result_.fp32 != nullptr) put_fp32(c, corner, result_.fp32 + row * N + column);
        else put_rounded(c, corner, result_.rounded + row * N + column);
    }

    Parts rows_, columns_, depth_;  ///< the first two in panels, the last in tile pairs
    AmxOperand a_, b_;
    const Bf16 *a_panels_, *b_panels_;
    Result result_;
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

at::Tensor packed(const AmxOperand& operand) {
    const at::Tensor panels = at::empty({operand.packed_elements()}, at::TensorOptions(at::kBFloat16));
    auto* to = static_cast<Bf16*>(panels.mutable_data_ptr());
    at::parallel_for(0, operand.panels(), 1, [&](std::int64_t begin, std::int64_t end) { pack_panels(operand, begin, end, to); });
    return panels;
}

}  // namespace

void amx_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add) {
    const AmxOperand a = operand(a_MK, AmxOperand::Side::left), b = operand(b_KN, AmxOperand::Side::right);
    const bool fp32 = out_MN.scalar_type() == at::kFloat;
    check(a.K == b.K && out_MN.size(0) == a.X && out_MN.size(1) == b.X && out_MN.is_contiguous() && (fp32 || !add),
          "amx_matmul: wrong shapes or dtype: ", a_MK.sizes(), " times ", b_KN.sizes(), " into ", out_MN.sizes());
    const at::Tensor a_panels = packed(a), b_panels = packed(b);
    const auto data = [](const at::Tensor& panels) { return static_cast<const Bf16*>(panels.const_data_ptr()); };
    const Blocks blocks(
        a, b, data(a_panels), data(b_panels),
        {fp32 ? out_MN.mutable_data_ptr<float>() : nullptr, fp32 ? nullptr : static_cast<Bf16*>(out_MN.mutable_data_ptr()), add});
    at::parallel_for(0, blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
        const at::Tensor room = at::empty({block_rows * block_columns * numbers_of_pair}, at::TensorOptions(at::kFloat));
        blocks.multiply(begin, end, room.mutable_data_ptr<float>());
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
