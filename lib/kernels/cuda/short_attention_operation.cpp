#include "kernels/cuda/short_attention_operation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/short_attention.h"
#include "kernels/cuda/tensors.h"
#include "kernels/host_values.h"

namespace bertpretrain::cuda {
namespace {

/// Tensors that a pass reads by pointer, and the pointers.
struct Inputs {
    at::Tensor qkv_T3H, starts_B1, samples_B;
    ShortAttention pass;

    Inputs(const at::Tensor& qkv, const at::Tensor& bias_3H, const Attention& shape)
        : qkv_T3H(qkv.contiguous()),
          starts_B1(shape.device_starts_B1.defined() ? shape.device_starts_B1
                                                     : copied_to(qkv.device(), shape.starts_B1).view(at::kLong)),
          samples_B(shape.device_samples_B.defined() ? shape.device_samples_B
                                                     : copied_to(qkv.device(), shape.samples_B).view(at::kLong)),
          pass{static_cast<std::int64_t>(shape.samples_B.size()),
               shape.heads,
               qkv.size(1) / 3 / shape.heads,
               qkv.size(0),
               starts_B1.const_data_ptr<std::int64_t>(),
               samples_B.const_data_ptr<std::int64_t>(),
               working_data<Bf16>(qkv_T3H),
               exact_data(bias_3H),
               {}} {
        const Dropout& dropout = shape.dropout;
        if (dropout.active())
            pass.dropout = {{dropout.key[0], dropout.key[1]}, dropout.site, dropout.threshold(), dropout.scale()};
    }
};

}  // namespace

bool is_short_attention(const at::Tensor& qkv_T3H, const Attention& shape) {
    if (qkv_T3H.scalar_type() != at::kBFloat16 || !short_attention_takes(qkv_T3H.size(1) / 3 / shape.heads)) return false;
    for (std::size_t b = 0; b + 1 < shape.starts_B1.size(); ++b)
        if (shape.starts_B1[b + 1] - shape.starts_B1[b] > longest_short_sequence) return false;
    return true;
}

void zero_rows_of_no_sequence(const at::Tensor& rows_TX, const Attention& shape) {
    const std::int64_t tokens = shape.starts_B1.back();
    if (tokens < rows_TX.size(0)) rows_TX.narrow(0, tokens, rows_TX.size(0) - tokens).zero_();
}

AttentionResult short_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    const Inputs in(qkv_T3H, bias_3H, shape);
    const std::int64_t T = qkv_T3H.size(0), H = qkv_T3H.size(1) / 3;
    const at::Tensor context_TH = at::empty({T, H}, qkv_T3H.options()),
                     log_sum_exp_NT = at::empty({shape.heads, T}, bias_3H.options());
    short_attention_forward({in.pass, working_data<Bf16>(context_TH), exact_data(log_sum_exp_NT)}, current_stream());
    AttentionResult result{context_TH, log_sum_exp_NT.transpose(0, 1)};
    zero_rows_of_no_sequence(result.context_TH, shape);
    zero_rows_of_no_sequence(result.log_sum_exp_TN, shape);
    return result;
}

at::Tensor short_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                    const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    const Inputs in(qkv_T3H, bias_3H, shape);
    const std::int64_t H = qkv_T3H.size(1) / 3;
    const at::Tensor log_sum_exp_NT = forward.log_sum_exp_TN.transpose(0, 1).contiguous(),
                     context_TH = forward.context_TH.contiguous(), d_rows_TH = d_context_TH.contiguous(),
                     d_qkv_T3H = at::empty_like(in.qkv_T3H),
                     bias_sums_B3H = at::empty({in.pass.sequences, 3 * H}, bias_3H.options());
    short_attention_backward({in.pass, working_data<Bf16>(context_TH), working_data<Bf16>(d_rows_TH), exact_data(log_sum_exp_NT),
                              working_data<Bf16>(d_qkv_T3H), exact_data(bias_sums_B3H)},
                             current_stream());
    zero_rows_of_no_sequence(d_qkv_T3H, shape);
    float* const d_bias = exact_data(d_bias_3H);  // the key's third stays as it is
    add_column_sums({exact_data(bias_sums_B3H), in.pass.sequences, 3, H, {d_bias, nullptr, d_bias + 2 * H}}, current_stream());
    return d_qkv_T3H;
}

}  // namespace bertpretrain::cuda
