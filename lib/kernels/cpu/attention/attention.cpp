// Attention over ragged sequences. One thread computes one head of one sequence, some queries at a time.
#include <algorithm>
#include <type_traits>

#include <ATen/ATen.h>

#include "kernels/cpu/attention/head_bf16.h"
#include "kernels/cpu/attention/head_fp32.h"
#include "kernels/cpu/attention/memory.h"
#include "kernels/cpu/row_chunks.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {
namespace {

/// Calls body(place) in parallel for all heads of all nonempty sequences. @param bytes  (S, D, window): the head memory of one
/// head
template <class Body>
void for_heads(const Attention& shape, std::int64_t H, std::size_t (*bytes)(std::int64_t, std::int64_t, std::int64_t),
               const Body& body) {
    const auto sequences = shape.layout.sequences();
    for_each_piece(sequences * shape.heads, [&](std::int64_t i) {
        const HeadPlace place(shape, H, i / shape.heads, i % shape.heads);
        if (place.S == 0) return;
        reserve_head_memory(bytes(place.S, place.D, place.window));
        body(place);
    });
}

void zero_rows_of_no_sequence(const at::Tensor& rows_TX, const Attention& shape) {
    rows_TX.narrow(0, shape.layout.tokens(), rows_TX.size(0) - shape.layout.tokens()).zero_();
}

/// Calls body with the head implementation for this dtype on this CPU, as a std::type_identity.
template <class Body>
void with_head(at::ScalarType compute_dtype, std::int64_t D, const Body& body) {
    if (compute_dtype != at::kBFloat16) body(std::type_identity<Fp32Head<float>>());
    else if (Bf16Head::can(D)) body(std::type_identity<Bf16Head>());
    else body(std::type_identity<Fp32Head<Bf16>>());
}

}  // namespace

std::size_t attention_memory_of_thread(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype) {
    const std::size_t fp32 = Fp32Head<float>::backward_bytes(longest, head_size, 0);
    return compute_dtype == at::kBFloat16 ? std::max(fp32, Bf16Head::backward_bytes(longest, head_size, 0)) : fp32;
}

AttentionResult attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    const std::int64_t T = qkv_T3H.size(0), H = qkv_T3H.size(1) / 3;
    AttentionResult result{at::empty({T, H}, qkv_T3H.scalar_type()), at::empty({T, shape.heads}, at::kFloat)};
    zero_rows_of_no_sequence(result.context_TH, shape);
    const at::Tensor added_3H = bias_or_zeros(bias_3H, qkv_T3H);
    with_head(qkv_T3H.scalar_type(), H / shape.heads, [&](auto kind) {
        using Head = typename decltype(kind)::type;
        using W = typename Head::Dtype;
        for_heads(shape, H, Head::forward_bytes, [&](const HeadPlace& place) {
            Head head(place, compute_data<W>(qkv_T3H), fp32_data(added_3H));
            head.forward(KeepRows(shape, place), compute_data<W>(result.context_TH), fp32_data(result.log_sum_exp_TN));
        });
    });
    return result;
}

AttentionGradient attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                     const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    const std::int64_t H = qkv_T3H.size(1) / 3;
    at::Tensor d_qkv_T3H = at::empty_like(qkv_T3H);
    zero_rows_of_no_sequence(d_qkv_T3H, shape);
    const at::Tensor added_3H = bias_or_zeros(bias_3H, qkv_T3H);
    const at::Tensor bias_sums_B3H = at::zeros({shape.layout.sequences(), 3 * H}, at::kFloat);
    with_head(qkv_T3H.scalar_type(), H / shape.heads, [&](auto kind) {
        using Head = typename decltype(kind)::type;
        using W = typename Head::Dtype;
        for_heads(shape, H, Head::backward_bytes, [&](const HeadPlace& place) {
            Head head(place, compute_data<W>(qkv_T3H), fp32_data(added_3H));
            head.backward(KeepRows(shape, place), compute_data<W>(d_context_TH), fp32_data(forward.log_sum_exp_TN),
                          compute_data<W>(d_qkv_T3H), fp32_data(bias_sums_B3H) + place.sequence * 3 * H);
        });
    });
    if (shape.is_rotated()) rotate(d_qkv_T3H, shape.positions_T, shape.rotary.inverted());
    if (!d_bias_3H.defined()) return {d_qkv_T3H};
    float* d_bias = fp32_data(d_bias_3H);
    for (std::int64_t b = 0; b < bias_sums_B3H.size(0); ++b)
        for (std::int64_t i = 0; i < 3 * H; ++i) d_bias[i] += fp32_data(bias_sums_B3H)[b * 3 * H + i];
    return {d_qkv_T3H};
}

}  // namespace bertpretrain::cpu
