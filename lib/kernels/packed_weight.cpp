#include "kernels/packed_weight.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include "kernels/matmul_libraries.h"

namespace bertpretrain {
namespace {

// The operators that torch.compile emits for a Linear layer on a CPU. No header declares them; libtorch without oneDNN lacks
// them.
using PackedLinear = at::Tensor(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                                std::string_view activation, c10::List<std::optional<at::Scalar>> scalars,
                                std::optional<std::string_view> algorithm);

std::optional<c10::OperatorHandle> find(const char* name) { return c10::Dispatcher::singleton().findSchema({name, ""}); }

const std::optional<c10::OperatorHandle>& pack_operator() {
    static const auto found = find("mkldnn::_reorder_linear_weight");
    return found;
}

const std::optional<c10::OperatorHandle>& linear_operator() {
    static const auto found = find("mkldnn::_linear_pointwise");
    return found;
}

bool can_pack(const at::Tensor& weight_OI) {
    if (!weight_OI.is_cpu() || !pack_operator() || !linear_operator()) return false;
    return weight_OI.scalar_type() == at::kFloat || (weight_OI.scalar_type() == at::kBFloat16 && has_bf16_matmul());
}

}  // namespace

at::Tensor packed_weight(const at::Tensor& weight_OI) {
    if (!can_pack(weight_OI)) return weight_OI;
    std::vector<c10::IValue> weight_and_rows{weight_OI.contiguous(), c10::IValue()};  // None: any number of rows
    pack_operator()->callBoxed(weight_and_rows);
    return weight_and_rows.front().toTensor();
}

at::Tensor packed_matmul(const at::Tensor& x_TI, const at::Tensor& packed_OI) {
    return linear_operator()->typed<PackedLinear>().call(x_TI.contiguous(), packed_OI, std::nullopt, "none",
                                                         c10::List<std::optional<at::Scalar>>(), std::nullopt);
}

}  // namespace bertpretrain
