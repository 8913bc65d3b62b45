#include <numeric>

#include <ATen/ATen.h>

#include "kernels/fused_operations.h"
#include "step_parts.h"

namespace bertpretrain::benchmark {
namespace {

constexpr double probability = 0.1, eps = 1e-12;

/// The operands of one micro-batch, and the results that the forward saves for the backward.
struct Operands {
    std::int64_t heads, T, H, F;
    SequenceLayout layout;
    RowKeys rows;
    at::Tensor ids_T, positions_T, types_T, bias_3H, bias_F, word_VH, position_PH, type_KH;
    at::Tensor d_bias_3H, d_bias_F;
    NormResult before;  ///< output of the previous sublayer
    NormParameters norm, d_norm;
    struct Set {
        at::Tensor normed_TH, fp32_TH, x_TF, dy_TF, qkv_T3H;
        NormResult normed;
        AttentionResult attended;
    };
    std::vector<Set> sets;

    explicit Operands(const StepShape& s)
        : heads(s.heads), T(s.sequences * s.length), H(s.hidden), F(s.intermediate) {
        const at::TensorOptions fp32(s.device), ids(fp32.dtype(at::kLong));
        const auto normal_bf16 = [&](at::IntArrayRef sizes) { return at::randn(sizes, fp32).to(at::kBFloat16); };
        std::vector<std::int64_t> samples_B(static_cast<std::size_t>(s.sequences));
        std::iota(samples_B.begin(), samples_B.end(), 0);
        layout = sequence_layout(std::vector<std::int64_t>(samples_B.size(), s.length), samples_B, s.device);
        const at::Tensor index_T = at::arange(T, ids);
        rows = {at::floor_divide(index_T, s.length), at::remainder(index_T, s.length)};
        positions_T = rows.position_T;
        ids_T = at::randint(s.vocabulary, {T}, ids);
        types_T = at::remainder(index_T, 2);
        norm = {at::ones({H}, fp32), at::zeros({H}, fp32)};
        d_norm = {at::zeros({H}, fp32), at::zeros({H}, fp32)};
        bias_3H = at::zeros({3 * H}, fp32), bias_F = at::zeros({F}, fp32);
        d_bias_3H = at::zeros({3 * H}, fp32), d_bias_F = at::zeros({F}, fp32);
        word_VH = normal_bf16({s.vocabulary, H}), position_PH = normal_bf16({512, H}), type_KH = normal_bf16({2, H});
        if (s.device.is_cuda()) {
            before = dropout_residual_norm({{}, {}, at::randn({T, H}, fp32), norm, eps, {}, rows, at::kBFloat16, false});
        }
        for (std::size_t i = 0; i < operand_sets; ++i) {
            Set set;
            set.normed_TH = normal_bf16({T, H}), set.fp32_TH = at::randn({T, H}, fp32);
            set.x_TF = normal_bf16({T, F}), set.dy_TF = normal_bf16({T, F});
            set.qkv_T3H = normal_bf16({T, 3 * H});
            set.normed = norm_forward(set);
            set.attended = attention(set.qkv_T3H, bias_3H, attention_shape());
            sets.push_back(std::move(set));
        }
    }

    Dropout hidden() const { return {philox_key(1, Purpose::hidden_dropout), 1, probability}; }
    Attention attention_shape() const { return {layout, heads, {philox_key(1, Purpose::attention_dropout), 1, probability}}; }
    AttentionGradient attention_backward(const Set& s, const std::optional<Quantizer>& by = {}) const {
        Attention shape = attention_shape();
        shape.quantizer = by;
        return bertpretrain::attention_backward(s.normed_TH, s.qkv_T3H, bias_3H, s.attended, shape, d_bias_3H);
    }
    Quantizer quantizer(at::ScalarType type) const {
        return {type, at::ones({}, word_VH.options().dtype(at::kFloat)), at::zeros({}, word_VH.options().dtype(at::kFloat))};
    }
    NormResult norm_forward(const Set& s, const std::optional<Quantizer>& by = {}) const {
        const bool again = s.fp32_TH.is_cuda();  // as the model does
        const Residual residual = again ? Residual::of(before, norm) : Residual(s.fp32_TH);
        return dropout_residual_norm({s.normed_TH, norm.bias_H, residual, norm, eps, hidden(), rows, at::kBFloat16, !again, at::kFloat, by});
    }
    NormGradients norm_backward(const Set& s, const std::optional<Quantizer>& by = {}) const {
        return dropout_residual_norm_backward(
            {s.normed_TH, s.fp32_TH, {}, s.normed, norm, hidden(), rows, at::kBFloat16, d_norm, d_norm.bias_H, by});
    }
};

/// What a step in fp8 has instead of its norms and attention: their results rounded as they are computed, or afterwards.
std::vector<Part> fp8_parts(const std::shared_ptr<Operands>& o, double TH, double backward_flops) {
    std::vector<Part> parts;
    const Quantizer y = o->quantizer(at::kFloat8_e4m3fn), dx = o->quantizer(at::kFloat8_e5m2);
    parts.push_back({"LayerNorm in fp8, forward", 0, 0, 12 * TH, [=](std::size_t i) { o->norm_forward(o->sets[i], y); }, "LayerNorm"});
    parts.push_back({"LayerNorm, then fp8, forward", 0, 0, 16 * TH,
                     [=](std::size_t i) { quantize({o->norm_forward(o->sets[i]).normed_TH}, y); }, "LayerNorm"});
    parts.push_back({"LayerNorm in fp8, backward", 0, 0, 16 * TH, [=](std::size_t i) { o->norm_backward(o->sets[i], dx); }, "LayerNorm"});
    parts.push_back({"LayerNorm, then fp8, backward", 0, 0, 20 * TH,
                     [=](std::size_t i) { quantize({o->norm_backward(o->sets[i]).out_TH}, dx); }, "LayerNorm"});
    parts.push_back({"attention in fp8, backward", 0, backward_flops, 0, [=](std::size_t i) { o->attention_backward(o->sets[i], dx); }, "attention"});
    parts.push_back({"attention, then fp8, backward", 0, backward_flops, 0,
                     [=](std::size_t i) { quantize({o->attention_backward(o->sets[i]).qkv_T3H}, dx); }, "attention"});
    return parts;
}

}  // namespace

std::vector<Part> bert_parts(const StepShape& shape) {
    const auto o = std::make_shared<Operands>(shape);
    const auto L = static_cast<double>(shape.layers);
    const auto TH = static_cast<double>(o->T * o->H), TF = static_cast<double>(o->T * o->F);
    const double attention_flops = 4.0 * TH * static_cast<double>(shape.length);
    std::vector<Part> parts{
        {"attention, forward", L, attention_flops, 0,
         [o](std::size_t i) { attention(o->sets[i].qkv_T3H, o->bias_3H, o->attention_shape()); }, "attention"},
        {"attention, backward", L, 2.5 * attention_flops, 0,
         [o](std::size_t i) { o->attention_backward(o->sets[i]); }, "attention"},
        {"dropout + residual + LayerNorm, forward", 2 * L, 0, (shape.device.is_cuda() ? 2 + 4 + 4 + 2 : 2 + 4 + 4 + 2 + 4) * TH,
         [o](std::size_t i) { o->norm_forward(o->sets[i]); }, "LayerNorm"},
        {"dropout + residual + LayerNorm, backward", 2 * L, 0, (2 + 4 + 4 + 4 + 2) * TH,
         [o](std::size_t i) { o->norm_backward(o->sets[i]); }, "LayerNorm"},
        {"bias + GELU, forward", L, 0, 4 * TF,
         [o](std::size_t i) { bias_activation(o->sets[i].x_TF, o->bias_F, Activation::gelu_erf); }, "GELU"},
        {"bias + GELU, backward", L, 0, 6 * TF,
         [o](std::size_t i) {
             bias_activation_backward(o->sets[i].dy_TF, o->sets[i].x_TF, o->bias_F, Activation::gelu_erf, o->d_bias_F);
         },
         "GELU"},
        {"embedding sum", 1, 0, (6 + 4) * TH,
         [o](std::size_t) { embedding_sum(o->ids_T, o->positions_T, o->types_T, o->word_VH, o->position_PH, o->type_KH); },
         "embeddings"},
    };
    for (Part& part : warpgroup_parts(
             shape, attention_flops, [o](const FunctionTable& table, std::size_t i) { table.attention(o->sets[i].qkv_T3H, o->bias_3H, o->attention_shape()); },
             [o](const FunctionTable& table, std::size_t i) { table.attention_backward(o->sets[i].normed_TH, o->sets[i].qkv_T3H, o->bias_3H, o->sets[i].attended, o->attention_shape(),
                                     o->d_bias_3H); }))
        parts.push_back(std::move(part));
    if (shape.device.is_cuda())
        for (Part& part : fp8_parts(o, TH, 2.5 * attention_flops)) parts.push_back(std::move(part));
    return parts;
}

}  // namespace bertpretrain::benchmark
