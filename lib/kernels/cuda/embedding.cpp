#include "kernels/cuda/embedding.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/sort.h>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {

at::Tensor embedding_sum(const at::Tensor& ids_T, const at::Tensor& positions_T, const at::Tensor& types_T,
                         const at::Tensor& word_VH, const at::Tensor& position_PH, const at::Tensor& type_KH) {
    const std::int64_t T = ids_T.size(0), H = word_VH.size(1);
    const at::Tensor sum_TH = at::empty({T, H}, word_VH.options().dtype(at::kFloat));
    with_compute_dtype(word_VH.scalar_type(), [&](auto w) {
        using W = decltype(w);
        embedding_sum<W>({T, H, ids_T.const_data_ptr<std::int64_t>(), positions_T.const_data_ptr<std::int64_t>(),
                          types_T.const_data_ptr<std::int64_t>(), compute_data<W>(word_VH), compute_data<W>(position_PH),
                          compute_data<W>(type_KH), fp32_data(sum_TH)},
                         in_quads(H, {word_VH, position_PH, type_KH, sum_TH}), current_stream());
    });
    return sum_TH;
}

void embedding_backward(const at::Tensor& d_sum_TH, const at::Tensor& indices_T, const at::Tensor& d_table_VH) {
    const std::int64_t T = d_sum_TH.size(0), H = d_sum_TH.size(1);
    const auto [sorted_T, order_T] = at::sort(indices_T, /*stable=*/true, /*dim=*/0, /*descending=*/false);
    const at::Tensor pieces_C2H = at::empty({ceil_div(T, tokens_per_chunk(T)), 2, H}, d_sum_TH.options());
    embedding_scatter({T, H, sorted_T.const_data_ptr<std::int64_t>(), order_T.const_data_ptr<std::int64_t>(), fp32_data(d_sum_TH),
                       fp32_data(pieces_C2H), fp32_data(d_table_VH)},
                      in_quads(H, {d_sum_TH, pieces_C2H, d_table_VH}), current_stream());
}

}  // namespace bertpretrain::cuda
