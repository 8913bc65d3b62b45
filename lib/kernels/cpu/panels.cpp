#include "kernels/cpu/panels.h"

#include <ATen/ops/empty.h>

#include "kernels/cpu/work_stealing.h"

namespace bertpretrain::cpu {
namespace {

/// Rows that are a multiple of 4 KiB apart share few places of the L1 cache; a panel of them would not stay there.
bool replace_each_other(const PanelOperand& operand) {
    return operand.stride * static_cast<std::int64_t>(sizeof(Bf16)) % 4096 == 0;
}

bool are_words(const PanelOperand& operand) {
    return operand.K % operand.k_per_word == 0 && operand.stride % operand.k_per_word == 0 &&
           reinterpret_cast<std::uintptr_t>(operand.at) % sizeof(PanelWord) == 0;
}

bool can_read_rows(const PanelKernel& kernel, const PanelOperand& operand) {
    return operand.side == PanelOperand::Side::left && kernel.multiply_rows != nullptr && operand.K_is_contiguous &&
           operand.X >= operand.width && are_words(operand) && !replace_each_other(operand);
}

/// How packing is divided into pieces, so that each of them reads long stretches of memory.
struct PackPieces {
    const Panels& packed;
    Parts panels, parts;

    static PackPieces of(const Panels& packed) {
        const PanelOperand& operand = packed.operand();
        const std::int64_t depth_parts = operand.depth().parts, width = operand.width;
        if (operand.K_is_contiguous) return {packed, Parts::of_up_to(64 / width, operand.panels()), {depth_parts, 1}};
        return {packed, Parts::of_up_to(1024 / width, operand.panels()), {depth_parts, depth_parts}};
    }

    std::int64_t count() const { return packed.as_is() ? 0 : panels.parts * parts.parts; }
    void pack(const PanelKernel& kernel, std::int64_t piece) const {
        const Range some = parts.range(piece % parts.parts);
        for (std::int64_t part = some.begin; part < some.end; ++part)
            kernel.pack(packed.operand(), panels.range(piece / parts.parts), part, packed.memory());
    }
};

}  // namespace

Panels::Panels(const PanelKernel& kernel, const PanelOperand& operand) : operand_(operand) {
    if (can_read_rows(kernel, operand)) return;
    memory_ = at::empty({operand.packed_words()}, at::kFloat);
    data_ = static_cast<PanelWord*>(memory_.mutable_data_ptr());
}

void pack(const PanelKernel& kernel, const Panels& a, const Panels& b) {
    const PackPieces of_a = PackPieces::of(a), of_b = PackPieces::of(b);
    for_each_piece(of_a.count() + of_b.count(), [&](std::int64_t piece) {
        if (piece < of_a.count()) of_a.pack(kernel, piece);
        else of_b.pack(kernel, piece - of_a.count());
    });
}

}  // namespace bertpretrain::cpu
