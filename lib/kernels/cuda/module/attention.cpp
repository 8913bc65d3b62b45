// Runs the attention kernels that attention_choice.h chooses. Flash attention draws its own dropout masks: they depend on which
// samples are computed together (the exception in ARCHITECTURE.md), but are still a function of the run's key.
#include <array>
#include <optional>

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "kernels/cuda/attention_choice.h"
#include "kernels/cuda/attention_inputs.h"
#include "kernels/cuda/bias_rows.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/host_values.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/module/other_attention.h"
#include "kernels/cuda/own_attention.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {
namespace {

/// The inputs of flash attention: N heads with D features each.
struct FlashInputs {
    at::Tensor biased_T3H, q_TND, k_TND, v_TND, starts_B1;
    std::int64_t longest = 0;  ///< length of the longest sequence

    FlashInputs(const at::Tensor& biased, const Attention& shape) : biased_T3H(biased) {
        const at::Tensor parts_T3ND = biased_T3H.view({biased_T3H.size(0), 3, shape.heads, -1});
        q_TND = parts_T3ND.select(1, 0), k_TND = parts_T3ND.select(1, 1), v_TND = parts_T3ND.select(1, 2);
        starts_B1 = shape.layout.device_starts_B1.to(at::kInt);
        longest = shape.layout.longest;
    }
};

/// Returns qkv itself if there is no bias.
at::Tensor with_bias(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H) {
    if (!bias_3H.defined()) return qkv_T3H;
    const std::int64_t T = qkv_T3H.size(0), width = qkv_T3H.size(1);
    const at::Tensor biased_T3H = at::empty_like(qkv_T3H);
    bias_forward<Bf16>({T, width, compute_data<Bf16>(qkv_T3H), fp32_data(bias_3H), compute_data<Bf16>(biased_T3H)},
                       RowFunction::identity, in_quads(width, {qkv_T3H, bias_3H, biased_T3H}), current_stream());
    return biased_T3H;
}

/// Concatenates the gradients of query, key and value, with zeros after the last sequence. Adds their column sums to the bias
/// gradient, except for the key's third: that gradient is exactly zero.
at::Tensor side_by_side(const std::array<at::Tensor, 3>& parts_TND, const Attention& shape, const at::Tensor& d_bias_3H) {
    const std::int64_t T = parts_TND[0].size(0), H = parts_TND[0].size(1) * parts_TND[0].size(2), tokens = shape.layout.tokens();
    const at::Tensor d_qkv_T3H = at::empty({T, 3 * H}, parts_TND[0].options()),
                     chunk_sums_CH = at::empty({row_chunks(tokens), H}, d_qkv_T3H.options().dtype(at::kFloat));
    for (std::int64_t part = 0; part < 3; ++part) {
        const at::Tensor from_TH = parts_TND[static_cast<std::size_t>(part)].reshape({T, H}),
                         to_TH = d_qkv_T3H.narrow(1, part * H, H);
        bias_backward<Bf16>({tokens, H, compute_data<Bf16>(from_TH), nullptr, nullptr, compute_data<Bf16>(to_TH),
                             fp32_data(chunk_sums_CH), 3 * H},
                            RowFunction::identity, in_quads(H, {from_TH, to_TH, chunk_sums_CH}), current_stream());
        if (part != 1 && d_bias_3H.defined())
            add_column_sums({fp32_data(chunk_sums_CH), row_chunks(tokens), 1, H, {fp32_data(d_bias_3H) + part * H}},
                            current_stream());
    }
    zero_rows_of_no_sequence(d_qkv_T3H, shape);
    return d_qkv_T3H;
}

/// Returns the seed for (seed of the run, layer, first sample of the micro-batch).
std::uint64_t flash_seed(const Attention& shape) {
    const auto sample = static_cast<std::uint64_t>(shape.layout.samples_B.front());
    const PhiloxCounter words = philox(
        shape.dropout.key, {0, shape.dropout.site, static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32)});
    return words[0] | std::uint64_t{words[1]} << 32;
}

/// Seeds the device's default generator, which only flash attention uses.
void seed_generator(at::Device device, std::uint64_t seed) {
    at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(device.index());
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed);  // with offset 0
}

/// Returns the {seed, offset} that the forward used, as the tensor that the backward reads.
at::Tensor generator_state(at::Device device, std::uint64_t seed) {
    std::vector<std::uint64_t> state{seed, 0};
    return copied_to(device, state).view(at::kUInt64);
}

/// Makes flash attention's backward deterministic while it lives; by default it adds with atomics, and runs would not reproduce
/// their bits.
class InOneOrder {
public:
    InOneOrder()
        : context_(at::globalContext()),
          order_(context_.deterministicAlgorithms()),
          warn_(context_.deterministicAlgorithmsWarnOnly()),
          fill_(context_.deterministicFillUninitializedMemory()) {
        context_.setDeterministicFillUninitializedMemory(false);
        context_.setDeterministicAlgorithms(true, false);
    }
    ~InOneOrder() {
        context_.setDeterministicAlgorithms(order_, warn_);
        context_.setDeterministicFillUninitializedMemory(fill_);
    }
    InOneOrder(const InOneOrder&) = delete;
    InOneOrder& operator=(const InOneOrder&) = delete;

private:
    at::Context& context_;
    bool order_, warn_, fill_;
};

/// The window on one side, as flash attention takes it.
std::optional<std::int64_t> window_of(const Attention& shape) {
    return shape.window > 0 ? std::optional(shape.window) : std::nullopt;
}

double probability_of(const Dropout& dropout) { return dropout.active() ? dropout.probability : 0.0; }

AttentionResult forward_of_flash(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    const std::int64_t T = qkv_T3H.size(0), H = qkv_T3H.size(1) / 3;
    if (shape.layout.tokens() == 0)
        return {at::zeros({T, H}, qkv_T3H.options()), at::zeros({T, shape.heads}, qkv_T3H.options().dtype(at::kFloat))};
    const FlashInputs in(with_bias(qkv_T3H, bias_3H), shape);
    if (shape.dropout.active()) seed_generator(qkv_T3H.device(), flash_seed(shape));
    const auto [context_TND, log_sum_exp_NT, state, unused, mask] =
        at::_flash_attention_forward(in.q_TND, in.k_TND, in.v_TND, in.starts_B1, in.starts_B1, in.longest, in.longest,
                                     probability_of(shape.dropout), /*is_causal=*/false, /*return_debug_mask=*/false,
                                     /*scale=*/std::nullopt, window_of(shape), window_of(shape));
    AttentionResult result{context_TND.reshape({T, H}), log_sum_exp_NT.transpose(0, 1), in.biased_T3H};
    zero_rows_of_no_sequence(result.context_TH, shape);
    zero_rows_of_no_sequence(result.log_sum_exp_TN, shape);
    return result;
}

AttentionGradient backward_of_flash(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                    const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    if (shape.layout.tokens() == 0) return {at::zeros_like(qkv_T3H)};
    const FlashInputs in(forward.biased_T3H.defined() ? forward.biased_T3H : with_bias(qkv_T3H, bias_3H), shape);
    const at::Tensor state = generator_state(qkv_T3H.device(), shape.dropout.active() ? flash_seed(shape) : 0);
    const InOneOrder in_one_order;
    const auto [d_q, d_k, d_v] = at::_flash_attention_backward(
        d_context_TH.view_as(in.q_TND), in.q_TND, in.k_TND, in.v_TND, forward.context_TH.view_as(in.q_TND),
        forward.log_sum_exp_TN.transpose(0, 1).contiguous(), in.starts_B1, in.starts_B1, in.longest, in.longest,
        probability_of(shape.dropout), /*is_causal=*/false, state, /*unused=*/state, /*scale=*/std::nullopt, window_of(shape),
        window_of(shape));
    at::Tensor d_qkv_T3H = side_by_side({d_q, d_k, d_v}, shape, d_bias_3H);
    if (shape.is_rotated()) rotate(d_qkv_T3H, shape.positions_T, shape.rotary.inverted());
    return {d_qkv_T3H};
}

/// Whether flash attention's forward replaces our long kernels' forward, whose backward then reads its results. On an H100 it
/// takes 0.95 of the time at 64 sequences of 1,024 tokens. Its grid has blocks for the longest sequence's length in every
/// sequence: it is not used where most of them would be empty.
bool flash_forward_is_faster(AttentionKernels kernels, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                             const Attention& shape) {
    const std::int64_t tiles = shape.layout.wide_tiles.count,
                       most = shape.layout.sequences() * ceil_div(shape.layout.longest, wide_tile_rows);
    return kernels == AttentionKernels::long_sequences && !shape.dropout.active() && !bias_3H.defined() &&
           (shape.window == 0 || shape.window >= shape.layout.longest - 1) && 2 * tiles > most &&
           flash_attention_kernels(attention_size(qkv_T3H, shape)) == AttentionKernels::flash;
}

AttentionResult forward_by(AttentionKernels kernels, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                           const Attention& shape) {
    switch (kernels) {
        case AttentionKernels::flash:
            return forward_of_flash(qkv_T3H, bias_3H, shape);
        case AttentionKernels::reference:
            return reference::attention(qkv_T3H, bias_3H, shape);
        default:
            return own_attention(qkv_T3H, bias_3H, shape);
    }
}

AttentionGradient backward_by(AttentionKernels kernels, const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H,
                              const at::Tensor& bias_3H, const AttentionResult& forward, const Attention& shape,
                              const at::Tensor& d_bias_3H) {
    switch (kernels) {
        case AttentionKernels::flash:
            return backward_of_flash(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
        case AttentionKernels::reference:
            return reference::attention_backward(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
        default:
            return own_attention_backward(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
    }
}

}  // namespace

bool attention_counts_dropout(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype) {
    return counts_dropout(attention_kernels({longest, head_size, compute_dtype}));
}

bool flash_counts_dropout(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype) {
    return counts_dropout(flash_attention_kernels({longest, head_size, compute_dtype}));
}

AttentionResult attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    const AttentionKernels kernels = attention_kernels(attention_size(qkv_T3H, shape));
    const bool by_flash = flash_forward_is_faster(kernels, qkv_T3H, bias_3H, shape);
    return forward_by(by_flash ? AttentionKernels::flash : kernels, qkv_T3H, bias_3H, shape);
}

AttentionGradient attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                     const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    return backward_by(attention_kernels(attention_size(qkv_T3H, shape)), d_context_TH, qkv_T3H, bias_3H, forward, shape,
                       d_bias_3H);
}

AttentionResult warpgroup_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    const AttentionKernels kernels = attention_kernels(attention_size(qkv_T3H, shape));
    return kernels == AttentionKernels::long_sequences ? own_attention_of_warpgroups(qkv_T3H, bias_3H, shape)
                                                       : forward_by(kernels, qkv_T3H, bias_3H, shape);
}

AttentionGradient warpgroup_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H,
                                               const at::Tensor& bias_3H, const AttentionResult& forward, const Attention& shape,
                                               const at::Tensor& d_bias_3H) {
    const AttentionKernels kernels = attention_kernels(attention_size(qkv_T3H, shape));
    return kernels == AttentionKernels::long_sequences
               ? own_attention_of_warpgroups_backward(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H)
               : backward_by(kernels, d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
}

AttentionResult flash_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    return forward_by(flash_attention_kernels(attention_size(qkv_T3H, shape)), qkv_T3H, bias_3H, shape);
}

AttentionGradient flash_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                           const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    return backward_by(flash_attention_kernels(attention_size(qkv_T3H, shape)), d_context_TH, qkv_T3H, bias_3H, forward, shape,
                       d_bias_3H);
}

}  // namespace bertpretrain::cuda
