#pragma once
// Conversions from tensors to the raw arguments of kernels.

#include <cuda_runtime.h>

#include <initializer_list>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "kernels/cuda/arguments.h"
#include "kernels/interface/fused_types.h"

namespace bertpretrain::cuda {

/// Returns the stream that torch's operations on the current device use.
cudaStream_t current_stream();

template <class W>
W* compute_data(const at::Tensor& tensor) {
    return tensor.defined() ? static_cast<W*>(tensor.data_ptr()) : nullptr;
}
inline float* fp32_data(const at::Tensor& tensor) { return compute_data<float>(tensor); }

/// Calls body with a Bf16 or a float, depending on `compute_dtype`.
template <class Body>
auto with_compute_dtype(at::ScalarType compute_dtype, const Body& body) {
    return compute_dtype == at::kBFloat16 ? body(Bf16{}) : body(float{});
}

/// Whether kernels may access four elements at a time: `width` is a multiple of 4 and all tensors are aligned to 16 bytes.
inline bool in_quads(std::int64_t width, std::initializer_list<at::Tensor> tensors) {
    if (width % 4 != 0) return false;
    for (const at::Tensor& tensor : tensors)
        if (tensor.defined() && reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % 16 != 0) return false;
    return true;
}

/// Returns an operand to be written.
inline Fp8Operand empty_fp8(std::int64_t T, std::int64_t C, const Quantizer& by) {
    const at::TensorOptions options = by.scale_1.options().dtype(by.type);
    return {at::empty({T, C}, options), at::empty({C, T}, options), {}};
}
inline Fp8Rows fp8_rows(const Fp8Operand& operand, const Quantizer& by) {
    return {operand.rows_TC.size(0),
            operand.rows_TC.size(1),
            fp32_data(by.scale_1),
            fp32_data(by.largest_1),
            compute_data<std::uint8_t>(operand.rows_TC),
            compute_data<std::uint8_t>(operand.columns_CT)};
}

inline RowDropout row_dropout(const Dropout& dropout, const RowKeys& rows) {
    if (!dropout.active()) return {};
    return {PhiloxKeys(dropout.key[0], dropout.key[1]),
            dropout.site,
            dropout.threshold(),
            dropout.scale(),
            rows.sample_T.const_data_ptr<std::int64_t>(),
            rows.position_T.const_data_ptr<std::int64_t>()};
}

}  // namespace bertpretrain::cuda
