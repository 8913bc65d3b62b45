#include "kernels/cuda/cross_entropy.h"

#include <ATen/ops/empty.h>

#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {

void softmax_cross_entropy(at::Tensor& logits_MV, const at::Tensor& bias_V, const at::Tensor& labels_M, double scale,
                           const at::Tensor& d_bias_V, const at::Tensor& totals_2) {
    const std::int64_t M = logits_MV.size(0), V = logits_MV.size(1);
    const at::Tensor chunk_sums_CV = at::empty({row_chunks(M), V}, bias_V.options());
    const at::Tensor statistics =
        at::empty({M, static_cast<std::int64_t>(sizeof(RowStatistics))}, bias_V.options().dtype(at::kByte));
    with_compute_dtype(logits_MV.scalar_type(), [&](auto w) {
        using W = decltype(w);
        cross_entropy<W>({M, V, compute_data<W>(logits_MV), fp32_data(bias_V), labels_M.const_data_ptr<std::int64_t>(),
                          static_cast<float>(scale), compute_data<RowStatistics>(statistics), fp32_data(chunk_sums_CV),
                          totals_2.mutable_data_ptr<double>()},
                         in_quads(V, {logits_MV, bias_V, chunk_sums_CV}), current_stream());
    });
    add_column_sums({fp32_data(chunk_sums_CV), row_chunks(M), 1, V, {fp32_data(d_bias_V)}}, current_stream());
}

}  // namespace bertpretrain::cuda
