#pragma once
// The panels (panel_kernel.h) of a matmul's operand.

#include <algorithm>

#include <ATen/core/Tensor.h>

#include "kernels/cpu/panel_kernel.h"

namespace bertpretrain::cpu {

class Panels {
public:
    /// Takes memory for the panels, unless the kernel can read the matrix itself.
    Panels(const PanelKernel& kernel, const PanelOperand& operand);

    const PanelOperand& operand() const { return operand_; }
    /// Whether the panels are rows of the matrix itself, `row_step()` words apart.
    bool as_is() const { return data_ == nullptr; }
    std::int64_t row_step() const { return operand_.stride / operand_.k_per_word; }
    /// Returns the row at which a panel begins. If the last one is incomplete, it is read as it is from the rows before it on.
    std::int64_t first_row(std::int64_t panel) const {
        return as_is() ? std::min(panel * operand_.width, operand_.X - operand_.width) : panel * operand_.width;
    }
    const PanelWord* at(std::int64_t panel, std::int64_t part) const {
        if (!as_is()) return data_ + operand_.offset(panel, part);
        return reinterpret_cast<const PanelWord*>(operand_.at) + first_row(panel) * row_step() + operand_.depth().first(part);
    }
    PanelWord* memory() const { return data_; }

private:
    PanelOperand operand_;
    at::Tensor memory_;
    PanelWord* data_ = nullptr;  ///< of `memory_`, which checks its type and storage each time it is asked
};

/// Packs both operands, by the threads of an operation.
void pack(const PanelKernel& kernel, const Panels& a, const Panels& b);

}  // namespace bertpretrain::cpu
