// The sum of embedding rows and its backward into the tables.
#include <algorithm>

#include <ATen/ATen.h>

#include "kernels/cpu/row_chunks.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {

at::Tensor embedding_sum(const at::Tensor& ids_T, const at::Tensor& positions_T, const at::Tensor& types_T,
                         const at::Tensor& word_VH, const at::Tensor& position_PH, const at::Tensor& type_KH) {
    const std::int64_t T = ids_T.size(0), H = word_VH.size(1);
    at::Tensor sum_TH = at::empty({T, H}, at::kFloat);
    const auto *ids = ids_T.data_ptr<std::int64_t>(), *positions = positions_T.data_ptr<std::int64_t>(),
               *types = types_T.data_ptr<std::int64_t>();
    with_compute_dtype(word_VH.scalar_type(), [&](auto w) {
        using W = decltype(w);
        const auto add_row = [H](const at::Tensor& table_XH, std::int64_t row, float* sum) {
            if (!table_XH.defined()) return;
            const W* from = compute_data<W>(table_XH) + row * H;
            for (std::int64_t h = 0; h < H; ++h) sum[h] += load(from + h);
        };
        for_row_chunks(T, [&](std::int64_t, std::int64_t first, std::int64_t end) {
            for (std::int64_t t = first; t < end; ++t) {
                const W* word = compute_data<W>(word_VH) + ids[t] * H;
                float* sum = fp32_data(sum_TH) + t * H;
                for (std::int64_t h = 0; h < H; ++h) sum[h] = load(word + h);
                add_row(position_PH, positions[t], sum);
                add_row(type_KH, types[t], sum);
            }
        });
    });
    return sum_TH;
}

void embedding_backward(const at::Tensor& d_sum_TH, const at::Tensor& indices_T, const at::Tensor& d_table_VH) {
    const std::int64_t T = d_sum_TH.size(0), H = d_sum_TH.size(1);
    const auto* indices = indices_T.data_ptr<std::int64_t>();
    const float* d_sum = fp32_data(d_sum_TH);
    float* d_table = fp32_data(d_table_VH);
    // Threads split columns, not tokens: each element is updated by one thread, in token order.
    constexpr std::int64_t fewest_columns = 64;
    const Parts parts{H, std::min((H + fewest_columns - 1) / fewest_columns, 4 * operation_threads())};
    for_each_piece(parts.parts, [&](std::int64_t part) {
        for (std::int64_t t = 0; t < T; ++t)
            for (std::int64_t h = parts.first(part); h < parts.first(part + 1); ++h)
                d_table[indices[t] * H + h] += d_sum[t * H + h];
    });
}

}  // namespace bertpretrain::cpu
