#include <memory>
#include <numeric>

#include <ATen/ATen.h>

#include "kernels/fused_operations.h"
#include "step_parts.h"

namespace bertpretrain::benchmark {
namespace {

/// The operands of one pass without dropout, and the results that the forward saves for the backward.
struct Operands {
    std::int64_t heads, window, T, H, F;
    SequenceLayout layout;
    RowKeys rows;
    at::Tensor ids_T, word_VH, angles_PD;
    NormParameters norm, d_norm;
    struct Set {
        at::Tensor normed_TH, fp32_TH, x_T2F, dy_TF, qkv_T3H;
        NormResult normed;
        AttentionResult global, local;
    };
    std::vector<Set> sets;

    explicit Operands(const StepShape& s)
        : heads(s.heads), window(s.window), T(s.sequences * s.length), H(s.hidden), F(s.intermediate) {
        const at::TensorOptions fp32(s.device), ids(fp32.dtype(at::kLong));
        const auto normal_bf16 = [&](at::IntArrayRef sizes) { return at::randn(sizes, fp32).to(at::kBFloat16); };
        std::vector<std::int64_t> samples_B(static_cast<std::size_t>(s.sequences));
        std::iota(samples_B.begin(), samples_B.end(), 0);
        layout = sequence_layout(std::vector<std::int64_t>(samples_B.size(), s.length), samples_B, s.device);
        const at::Tensor index_T = at::arange(T, ids);
        rows = {at::floor_divide(index_T, s.length), at::remainder(index_T, s.length)};
        ids_T = at::randint(s.vocabulary, {T}, ids);
        norm = {at::ones({H}, fp32), {}}, d_norm = {at::zeros({H}, fp32), {}};
        word_VH = normal_bf16({s.vocabulary, H});
        const at::Tensor angle_PF = at::randn({s.length, H / heads / 2}, fp32);  // any: what counts is that lengths are kept
        angles_PD = at::cat({angle_PF.cos(), angle_PF.sin()}, 1);
        for (std::size_t i = 0; i < operand_sets; ++i) {
            Set set;
            set.normed_TH = normal_bf16({T, H}), set.fp32_TH = at::randn({T, H}, fp32);
            set.x_T2F = normal_bf16({T, 2 * F}), set.dy_TF = normal_bf16({T, F});
            set.qkv_T3H = normal_bf16({T, 3 * H});
            set.normed = norm_forward(set);
            set.global = attention(set.qkv_T3H, {}, attention_shape(0));
            set.local = attention(set.qkv_T3H, {}, attention_shape(window));
            sets.push_back(std::move(set));
        }
    }

    Attention attention_shape(std::int64_t window_of) const {
        return {layout, heads, {}, window_of, {angles_PD, heads}, rows.position_T};
    }
    NormResult norm_forward(const Set& s) const {
        return dropout_residual_norm({.out_TH = s.normed_TH,
                                      .residual = s.fp32_TH,
                                      .norm = norm,
                                      .eps = 1e-5,
                                      .rows = rows,
                                      .compute_dtype = at::kBFloat16});
    }
    void norm_backward(const Set& s) const {
        dropout_residual_norm_backward({.d_normed_TH = s.normed_TH,
                                        .d_sum_TH = s.fp32_TH,
                                        .forward = s.normed,
                                        .norm = norm,
                                        .rows = rows,
                                        .compute_dtype = at::kBFloat16,
                                        .d_norm = d_norm});
    }
    void rotate_queries_and_keys(Set& s) const { rotate(s.qkv_T3H, rows.position_T, {angles_PD, heads}); }
};

}  // namespace

std::vector<Part> modern_parts(const StepShape& shape) {
    const auto o = std::make_shared<Operands>(shape);
    const auto L = static_cast<double>(shape.layers),
               globals = static_cast<double>((shape.layers + shape.global_every - 1) / shape.global_every);
    const auto TH = static_cast<double>(o->T * o->H), TF = static_cast<double>(o->T * o->F);
    const double of_global = 4 * TH * static_cast<double>(shape.length),
                 of_local = 4 * TH * static_cast<double>(std::min(shape.length, 2 * shape.window + 1));
    std::vector<Part> parts{
        {"attention of all keys, forward", globals, of_global, 0,
         [o](std::size_t i) { attention(o->sets[i].qkv_T3H, {}, o->attention_shape(0)); }, "attention"},
        {"attention of all keys, backward", globals, 2.5 * of_global, 0,
         [o](std::size_t i) {
             attention_backward(o->sets[i].normed_TH, o->sets[i].qkv_T3H, {}, o->sets[i].global, o->attention_shape(0), {});
         },
         "attention"},
        {"attention in a window, forward", L - globals, of_local, 0,
         [o](std::size_t i) { attention(o->sets[i].qkv_T3H, {}, o->attention_shape(o->window)); }, "attention"},
        {"attention in a window, backward", L - globals, 2.5 * of_local, 0,
         [o](std::size_t i) {
             attention_backward(o->sets[i].normed_TH, o->sets[i].qkv_T3H, {}, o->sets[i].local, o->attention_shape(o->window), {});
         },
         "attention"},
        {"rotation of queries and keys", L, 0, 8 * TH, [o](std::size_t i) { o->rotate_queries_and_keys(o->sets[i]); }, "rotation"},
        {"residual + LayerNorm, forward", 2 * L, 0, (2 + 4 + 4 + 2) * TH, [o](std::size_t i) { o->norm_forward(o->sets[i]); },
         "LayerNorm"},
        {"residual + LayerNorm, backward", 2 * L, 0, (2 + 4 + 4 + 4 + 2) * TH,
         [o](std::size_t i) { o->norm_backward(o->sets[i]); }, "LayerNorm"},
        {"gated GELU, forward", L, 0, 6 * TF, [o](std::size_t i) { gated_activation(o->sets[i].x_T2F, Activation::gelu_erf); },
         "GELU"},
        {"gated GELU, backward", L, 0, 10 * TF,
         [o](std::size_t i) { gated_activation_backward(o->sets[i].dy_TF, o->sets[i].x_T2F, Activation::gelu_erf); }, "GELU"},
        {"word embeddings", 1, 0, (2 + 4) * TH, [o](std::size_t) { embedding_sum(o->ids_T, o->ids_T, o->ids_T, o->word_VH, {}, {}); },
         "embeddings"},
    };
    for (Part& part : warpgroup_parts(
             shape, of_global, [o](const FunctionTable& table, std::size_t i) { table.attention(o->sets[i].qkv_T3H, {}, o->attention_shape(0)); },
             [o](const FunctionTable& table, std::size_t i) { table.attention_backward(o->sets[i].normed_TH, o->sets[i].qkv_T3H, {}, o->sets[i].global, o->attention_shape(0), {}); }))
        parts.push_back(std::move(part));
    return parts;
}

}  // namespace bertpretrain::benchmark
