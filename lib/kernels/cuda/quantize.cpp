#include "kernels/cuda/quantize.h"

#include <ATen/ops/empty.h>

#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {

Fp8Operand quantize(const at::Tensor& x_TC, const Quantizer& by) {
    const std::int64_t T = x_TC.size(0), C = x_TC.size(1);
    if (T % 4 != 0 || !in_quads(C, {x_TC})) return reference::quantize(x_TC, by);
    const at::TensorOptions options = x_TC.options().dtype(by.type);
    const Fp8Operand operand{at::empty({T, C}, options), at::empty({C, T}, options), {}};
    const Quantized pass{T,
                         C,
                         compute_data<Bf16>(x_TC),
                         fp32_data(by.scale_1),
                         fp32_data(by.largest_1),
                         compute_data<std::uint8_t>(operand.rows_TC),
                         compute_data<std::uint8_t>(operand.columns_CT)};
    if (by.type == at::kFloat8_e4m3fn) quantize<E4m3>(pass, current_stream());
    else quantize<E5m2>(pass, current_stream());
    return operand;
}

}  // namespace bertpretrain::cuda
