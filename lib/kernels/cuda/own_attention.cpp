#include "kernels/cuda/own_attention.h"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include "kernels/cuda/any_attention.h"
#include "kernels/cuda/bias_rows.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention.h"
#include "kernels/cuda/short_attention.h"
#include "kernels/cuda/tensors.h"
#include "kernels/cuda/warpgroup_attention.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {
namespace {

std::int64_t head_size(const at::Tensor& qkv_T3H, const Attention& shape) { return qkv_T3H.size(1) / 3 / shape.heads; }

TilesOfRows tiles_on_device(const SequenceTiles& tiles) {
    return {tiles.count, tiles.device_tiles_P.const_data_ptr<std::int64_t>(),
            tiles.device_first_tile_B.const_data_ptr<std::int64_t>()};
}

/// The kernels' inputs, and the tensors that own their memory.
template <class W>
struct Inputs {
    at::Tensor qkv_T3H, bias_3H;
    AttentionInputs<W> pass;

    Inputs(const at::Tensor& qkv, const at::Tensor& bias, const Attention& shape)
        : qkv_T3H(qkv.contiguous()),
          bias_3H(bias_or_zeros(bias, qkv)),
          pass{shape.layout.sequences(),
               shape.heads,
               head_size(qkv, shape),
               qkv.size(0),
               shape.layout.longest,
               shape.window > 0 && shape.window < shape.layout.longest - 1,
               static_cast<int>(shape.window > 0 ? std::min(shape.window, shape.layout.longest) : shape.layout.longest),
               shape.layout.device_starts_B1.const_data_ptr<std::int64_t>(),
               shape.layout.device_samples_B.const_data_ptr<std::int64_t>(),
               tiles_on_device(shape.layout.wide_tiles),
               tiles_on_device(shape.layout.narrow_tiles),
               compute_data<W>(qkv_T3H),
               fp32_data(bias_3H),
               {}} {
        const Dropout& dropout = shape.dropout;
        if (dropout.active())
            pass.dropout = {PhiloxKeys(dropout.key[0], dropout.key[1]), dropout.site, dropout.threshold(), dropout.scale()};
    }
};

/// The kernels of long sequences.
struct LongKernels {
    void (*forward)(const LongAttentionForward&, cudaStream_t);
    void (*backward_queries)(const LongAttentionBackward&, cudaStream_t);
    void (*backward_keys)(const LongAttentionBackward&, cudaStream_t);
};
constexpr LongKernels by_warps{long_attention_forward, long_attention_backward_queries, long_attention_backward_keys},
    by_warpgroups{warpgroup_attention_forward, warpgroup_attention_backward_queries, warpgroup_attention_backward_keys};

KeptMasks masks_in(const at::Tensor& kept_NGT4) {
    return {compute_data<unsigned>(kept_NGT4), kept_NGT4.defined() ? static_cast<int>(kept_NGT4.size(1)) : 0};
}

template <class W>
AttentionResult forward(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape,
                        const LongKernels& long_kernels) {
    const Inputs<W> in(qkv_T3H, bias_3H, shape);
    const std::int64_t T = qkv_T3H.size(0), H = qkv_T3H.size(1) / 3;
    const at::Tensor context_TH = at::empty({T, H}, qkv_T3H.options()),
                     log_sum_exp_NT = at::empty({shape.heads, T}, in.bias_3H.options());
    at::Tensor kept_NGT4;
    const auto any = [&] {
        any_attention_forward<W>({in.pass, compute_data<W>(context_TH), fp32_data(log_sum_exp_NT)}, current_stream());
    };
    if constexpr (std::is_same_v<W, Bf16>) {
        const AttentionKernels kernels = own_attention_kernels(attention_size(qkv_T3H, shape));
        if (on_tensor_cores(kernels) && shape.dropout.active())
            kept_NGT4 = at::empty({shape.heads, kept_groups(in.pass.longest, in.pass.reach), T, kept_words},
                                  qkv_T3H.options().dtype(at::kInt));
        const KeptMasks masks = masks_in(kept_NGT4);
        if (kernels == AttentionKernels::short_sequences)
            short_attention_forward({in.pass, compute_data<W>(context_TH), fp32_data(log_sum_exp_NT), masks}, current_stream());
        else if (kernels == AttentionKernels::long_sequences)
            long_kernels.forward({in.pass, compute_data<W>(context_TH), fp32_data(log_sum_exp_NT), masks}, current_stream());
        else any();
    } else {
        any();
    }
    AttentionResult result{context_TH, log_sum_exp_NT.transpose(0, 1), {}, kept_NGT4};
    zero_rows_of_no_sequence(result.context_TH, shape);
    zero_rows_of_no_sequence(result.log_sum_exp_TN, shape);
    return result;
}

/// Adds the column sums of d_qkv to the bias gradient, except for the key's third: that gradient is exactly zero.
template <class W>
void add_qkv_bias_gradient(const at::Tensor& d_qkv_T3H, const at::Tensor& d_bias_3H) {
    if (!d_bias_3H.defined()) return;
    const std::int64_t T = d_qkv_T3H.size(0), H = d_qkv_T3H.size(1) / 3;
    const at::Tensor chunk_sums_C3H = at::empty({row_chunks(T), 3 * H}, d_bias_3H.options());
    bias_backward<W>({T, 3 * H, compute_data<W>(d_qkv_T3H), nullptr, nullptr, nullptr, fp32_data(chunk_sums_C3H)},
                     RowFunction::identity, in_quads(3 * H, {d_qkv_T3H, chunk_sums_C3H}), current_stream());
    float* const d_bias = fp32_data(d_bias_3H);
    add_column_sums({fp32_data(chunk_sums_C3H), row_chunks(T), 3, H, {d_bias, nullptr, d_bias + 2 * H}}, current_stream());
}

/// A backward's inputs as contiguous tensors, and its result.
struct BackwardTensors {
    at::Tensor context_TH, d_context_TH, log_sum_exp_NT;
    AttentionGradient d;
    std::optional<Quantizer> by;  ///< defined: the result is in fp8

    /// @param by_ whether, and how, the result is rounded
    BackwardTensors(const at::Tensor& d_context, const at::Tensor& qkv_T3H, const AttentionResult& forward,
                    const std::optional<Quantizer>& by_)
        : context_TH(forward.context_TH.contiguous()),
          d_context_TH(d_context.contiguous()),
          log_sum_exp_NT(forward.log_sum_exp_TN.transpose(0, 1).contiguous()),
          by(by_) {
        if (by) d.qkv_fp8 = empty_fp8(qkv_T3H.size(0), qkv_T3H.size(1), *by);
        else d.qkv_T3H = at::empty_like(qkv_T3H);
    }
    QkvGradient gradient() const { return {compute_data<Bf16>(d.qkv_T3H), by ? fp8_rows(d.qkv_fp8, *by) : Fp8Rows{}}; }
};

void zero_gradient_of_no_sequence(const AttentionGradient& d, const Attention& shape) {
    if (!d.qkv_fp8.defined()) return zero_rows_of_no_sequence(d.qkv_T3H, shape);
    zero_rows_of_no_sequence(d.qkv_fp8.rows_TC.view(at::kByte), shape);
    zero_rows_of_no_sequence(d.qkv_fp8.columns_CT.view(at::kByte).t(), shape);
}

/// Whether the backward can round its result to fp8 as it computes it.
bool can_round(AttentionKernels kernels, const AttentionInputs<Bf16>& in, const Attention& shape) {
    if (!shape.quantizer || shape.quantizer->type != at::kFloat8_e5m2 || in.rows % 4 != 0) return false;
    if (kernels == AttentionKernels::short_sequences) return in.head_size == 64 && !in.has_window && !shape.is_rotated();
    return kernels == AttentionKernels::long_sequences;
}

/// @param d_bias_3H  each query's and value's third is added to; the key's gradient is exactly zero
void short_backward(const AttentionInputs<Bf16>& in, const BackwardTensors& t, const at::Tensor& kept_NGT4,
                    const at::Tensor& d_bias_3H) {
    const std::int64_t H = in.heads * in.head_size;
    const at::Tensor bias_sums_B3H = at::empty({in.sequences, 3 * H}, t.log_sum_exp_NT.options());
    short_attention_backward({in, compute_data<Bf16>(t.context_TH), compute_data<Bf16>(t.d_context_TH),
                              fp32_data(t.log_sum_exp_NT), masks_in(kept_NGT4), t.gradient(), fp32_data(bias_sums_B3H)},
                             current_stream());
    if (!d_bias_3H.defined()) return;
    float* const d_bias = fp32_data(d_bias_3H);
    add_column_sums({fp32_data(bias_sums_B3H), in.sequences, 3, H, {d_bias, nullptr, d_bias + 2 * H}}, current_stream());
}

void long_backward(const LongKernels& kernels, const AttentionInputs<Bf16>& in, const BackwardTensors& t,
                   const at::Tensor& kept_NGT4, const Attention& shape, const at::Tensor& d_bias_3H) {
    const std::int64_t H = in.heads * in.head_size;
    const at::Tensor terms_NT2 = at::empty({in.heads, in.rows, 2}, t.log_sum_exp_NT.options()),
                     biased_queries_TH = at::empty_like(t.context_TH),
                     query_sums_PH = at::empty({in.wide_tiles.count, H}, t.log_sum_exp_NT.options()),
                     value_sums_PH = at::empty({in.narrow_tiles.count, H}, t.log_sum_exp_NT.options());
    const LongAttentionBackward pass{in,
                                     compute_data<Bf16>(t.context_TH),
                                     compute_data<Bf16>(t.d_context_TH),
                                     fp32_data(t.log_sum_exp_NT),
                                     masks_in(kept_NGT4),
                                     t.gradient(),
                                     compute_data<QueryTerms>(terms_NT2),
                                     compute_data<Bf16>(biased_queries_TH),
                                     fp32_data(query_sums_PH),
                                     fp32_data(value_sums_PH),
                                     fp32_data(shape.rotary.angles_PD),
                                     shape.is_rotated() ? shape.positions_T.const_data_ptr<std::int64_t>() : nullptr};
    kernels.backward_queries(pass, current_stream());
    kernels.backward_keys(pass, current_stream());
    if (!d_bias_3H.defined()) return;
    float* const d_bias = fp32_data(d_bias_3H);
    const auto add = [&](const at::Tensor& sums_PH, const TilesOfRows& tiles, std::int64_t rows, float* total) {
        add_tile_sums(
            {fp32_data(sums_PH), rows, in.sequences, ceil_div(in.longest, rows), H, in.starts_B1, tiles.first_tile_B, total},
            current_stream());
    };
    add(query_sums_PH, in.wide_tiles, wide_tile_rows, d_bias);
    add(value_sums_PH, in.narrow_tiles, narrow_tile_rows, d_bias + 2 * H);
}

template <class W>
AttentionGradient backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                           const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H,
                           const LongKernels& long_kernels) {
    const Inputs<W> in(qkv_T3H, bias_3H, shape);
    if constexpr (std::is_same_v<W, Bf16>) {
        const AttentionKernels kernels = own_attention_kernels(attention_size(qkv_T3H, shape));
        const bool is_short = kernels == AttentionKernels::short_sequences;
        if (on_tensor_cores(kernels)) {
            BackwardTensors t(d_context_TH, in.qkv_T3H, forward,
                              can_round(kernels, in.pass, shape) ? shape.quantizer : std::nullopt);
            if (is_short) short_backward(in.pass, t, forward.kept_NGT4, d_bias_3H);
            else long_backward(long_kernels, in.pass, t, forward.kept_NGT4, shape, d_bias_3H);
            zero_gradient_of_no_sequence(t.d, shape);
            if (is_short && shape.is_rotated()) rotate(t.d.qkv_T3H, shape.positions_T, shape.rotary.inverted());
            return t.d;
        }
    }
    BackwardTensors t(d_context_TH, in.qkv_T3H, forward, std::nullopt);
    any_attention_backward<W>({in.pass, compute_data<W>(t.context_TH), compute_data<W>(t.d_context_TH),
                               fp32_data(t.log_sum_exp_NT), compute_data<W>(t.d.qkv_T3H)},
                              current_stream());
    zero_gradient_of_no_sequence(t.d, shape);
    add_qkv_bias_gradient<W>(t.d.qkv_T3H, d_bias_3H);
    if (shape.is_rotated()) rotate(t.d.qkv_T3H, shape.positions_T, shape.rotary.inverted());
    return t.d;
}

AttentionResult forward_with(const LongKernels& kernels, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                             const Attention& shape) {
    return with_compute_dtype(qkv_T3H.scalar_type(),
                              [&](auto w) { return forward<decltype(w)>(qkv_T3H, bias_3H, shape, kernels); });
}

AttentionGradient backward_with(const LongKernels& kernels, const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H,
                                const at::Tensor& bias_3H, const AttentionResult& forward, const Attention& shape,
                                const at::Tensor& d_bias_3H) {
    return with_compute_dtype(qkv_T3H.scalar_type(), [&](auto w) {
        return backward<decltype(w)>(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H, kernels);
    });
}

void require_warpgroups() {
    constexpr int hopper = 90;
    if (const int capability = compute_capability(); capability != hopper)
        throw std::runtime_error("they need a GPU of compute capability 9.0 (H100, H200, GH200), and this one has " +
                                 std::to_string(capability / 10) + "." + std::to_string(capability % 10));
}

}  // namespace

AttentionSize attention_size(const at::Tensor& qkv_T3H, const Attention& shape) {
    return {shape.layout.longest, head_size(qkv_T3H, shape), qkv_T3H.scalar_type()};
}

void zero_rows_of_no_sequence(const at::Tensor& rows_TX, const Attention& shape) {
    const std::int64_t tokens = shape.layout.tokens();
    if (tokens < rows_TX.size(0)) rows_TX.narrow(0, tokens, rows_TX.size(0) - tokens).zero_();
}

AttentionResult own_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    return forward_with(by_warps, qkv_T3H, bias_3H, shape);
}

AttentionGradient own_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                         const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    return backward_with(by_warps, d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
}

AttentionResult own_attention_of_warpgroups(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    require_warpgroups();
    return forward_with(by_warpgroups, qkv_T3H, bias_3H, shape);
}

AttentionGradient own_attention_of_warpgroups_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H,
                                                       const at::Tensor& bias_3H, const AttentionResult& forward,
                                                       const Attention& shape, const at::Tensor& d_bias_3H) {
    require_warpgroups();
    return backward_with(by_warpgroups, d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
}

}  // namespace bertpretrain::cuda
