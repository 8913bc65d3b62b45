#include "kernels/self_proof_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <ATen/ATen.h>

#include "kernels/self_proof_inputs.h"
#include "kernels/self_proof_optimizer.h"

namespace bertpretrain {
namespace {

using Results = std::vector<ProofResult>;

constexpr double dropout_probability = 0.1;
constexpr double fp32_bound = 3e-6, bf16_bound = 2.5e-3;  // error from fp32 summation, and from rounding to bf16
constexpr double matmul_bound = 1e-4;                     // fp32 accumulation in tensor cores; TF32 would reach 5e-4
constexpr double sum_bound = 1e-6;                        // float64 sums of fp32 terms

double bound_of(at::ScalarType type) { return type == at::kBFloat16 ? bf16_bound : fp32_bound; }

ProofResult rounded(const char* name, const at::Tensor& value) {
    return {name, value, value.defined() ? bound_of(value.scalar_type()) : 0};
}

/// Dropout, residual and LayerNorm; without `out` only LayerNorm.
ProofComputation norm(ProofInputs in, bool has_out) {
    const std::int64_t T = in.tokens(), H = in.shape.hidden;
    const at::ScalarType compute_dtype = in.shape.compute_dtype, residual_dtype = in.shape.residual_dtype;
    const at::Tensor out = has_out ? in.normal({T, H}, compute_dtype) : at::Tensor(),
                     bias = has_out ? in.normal({H}) : at::Tensor();
    const at::Tensor residual = in.normal({T, H}, residual_dtype), d_normed = in.normal({T, H}, compute_dtype),
                     d_residual = in.normal({T, H}, residual_dtype), d_sum = in.normal({T, H}, residual_dtype);
    const NormParameters parameters{in.normal({H}) + 1, in.normal({H})};
    const Dropout dropout = in.dropout(has_out ? dropout_probability : 0, Purpose::hidden_dropout);
    const RowKeys rows = in.rows();
    // of what is computed from the sum, whose elements kernels may round differently
    const double of_sum = bound_of(residual_dtype);
    return [=](const KernelSet& set) -> Results {
        const NormResult forward = set.functions.dropout_residual_norm(
            {out, bias, residual, parameters, 1e-12, dropout, rows, compute_dtype, true, residual_dtype});
        const NormParameters d_parameters{in.zeros({H}), in.zeros({H})};
        const at::Tensor d_bias = has_out ? in.zeros({H}) : at::Tensor();
        const NormGradients gradients = set.functions.dropout_residual_norm_backward(
            {d_normed, d_residual, d_sum, forward, parameters, dropout, rows, compute_dtype, d_parameters, d_bias});
        return {rounded("the sum", forward.sum_TH),
                rounded("the output", forward.normed_TH),
                {"the output in fp32", forward.normed_fp32_TH, of_sum},
                rounded("the gradient of the sum", gradients.sum_TH),
                rounded("the gradient of the input", gradients.out_TH),
                {"the gradient of LayerNorm's weight", d_parameters.weight_H, of_sum},
                rounded("the gradient of LayerNorm's bias", d_parameters.bias_H),
                rounded("the gradient of the bias", d_bias)};
    };
}

ProofComputation dropout_rows(ProofInputs in) {
    const at::Tensor x = in.normal({in.tokens(), in.shape.hidden});
    const Dropout dropout = in.dropout(dropout_probability, Purpose::hidden_dropout);
    return [=, rows = in.rows()](const KernelSet& set) -> Results {
        return {{"the output", set.functions.dropout_rows(x, dropout, rows), 0}};
    };
}

ProofComputation activation(ProofInputs in) {
    const std::int64_t T = in.tokens(), F = in.shape.intermediate;
    const at::Tensor x = in.normal({T, F}, in.shape.compute_dtype), dy = in.normal({T, F}, in.shape.compute_dtype),
                     bias = in.normal({F});
    return [=](const KernelSet& set) -> Results {
        const at::Tensor d_bias = in.zeros({F});
        const Activation kind = in.shape.activation;
        const at::Tensor y = set.functions.bias_activation(x, bias, kind);
        return {rounded("the output", y),
                rounded("the gradient of the input", set.functions.bias_activation_backward(dy, x, bias, kind, d_bias)),
                rounded("the gradient of the bias", d_bias)};
    };
}

ProofComputation gated_activation(ProofInputs in) {
    const std::int64_t T = in.tokens(), F = in.shape.intermediate;
    const at::Tensor x = in.normal({T, 2 * F}, in.shape.compute_dtype), dy = in.normal({T, F}, in.shape.compute_dtype);
    return [=](const KernelSet& set) -> Results {
        return {rounded("the output", set.functions.gated_activation(x, in.shape.activation)),
                rounded("the gradient of the input", set.functions.gated_activation_backward(dy, x, in.shape.activation))};
    };
}

ProofComputation rotation(ProofInputs in) {
    const std::int64_t T = in.tokens(), H = in.shape.hidden;
    const at::Tensor qkv = in.normal({T, 3 * H}, in.shape.compute_dtype), positions = in.below(in.shape.longest_sequence, T);
    const Rotary rotary = in.rotary();
    return [=](const KernelSet& set) -> Results {
        at::Tensor forward = qkv.clone(), back = qkv.clone();
        set.functions.rotate(forward, positions, rotary);
        set.functions.rotate(back, positions, rotary.inverted());
        return {rounded("the rotation", forward), rounded("the rotation back", back)};
    };
}

/// Returns the square root of each token's sequence length, T x 1. Multiplied by it, the contexts and gradients of random inputs
/// have the same size in sequences of any length. Else the rounding in a sequence of one token, whose gradients of query and key
/// are differences of equal numbers, would be compared with the small gradients of a long sequence.
at::Tensor weights_of_sequences(const ProofInputs& in) {
    std::vector<at::Tensor> weights;
    for (std::int64_t b = 0; b < in.layout.sequences(); ++b)
        weights.push_back(at::full({in.layout.length(b), 1}, std::sqrt(static_cast<double>(in.layout.length(b)))));
    return at::cat(weights).to(in.device);
}

/// Attention, with some rows after the last sequence that belong to no sequence.
ProofComputation attention(ProofInputs in, double probability, std::int64_t window) {
    constexpr std::int64_t padding_rows = 5;
    const std::int64_t used = in.tokens(), T = used + padding_rows, H = in.shape.hidden;
    const at::ScalarType compute_dtype = in.shape.compute_dtype;
    // Same bounds as in the tests: kernels round q, k and v after adding the bias; the reference does not.
    const double forward_bound = compute_dtype == at::kBFloat16 ? 1e-2 : 1e-5, backward_bound = 2 * forward_bound;
    const bool is_rotary = in.shape.is_rotary;  // models with rotary positions have no biases
    const at::Tensor qkv = in.normal({T, 3 * H}, compute_dtype), bias = is_rotary ? at::Tensor() : in.normal({3 * H}),
                     d_context = in.normal({T, H}, compute_dtype), weights_T1 = weights_of_sequences(in);
    const Dropout dropout = in.dropout(probability, Purpose::attention_dropout);
    const Rotary rotary = is_rotary ? in.rotary() : Rotary{};
    const at::Tensor positions = is_rotary ? in.below(in.shape.longest_sequence, T) : at::Tensor();
    return [=](const KernelSet& set) -> Results {
        const Attention shape{in.layout, in.shape.heads, dropout, window, rotary, positions};
        const at::Tensor d_bias = is_rotary ? at::Tensor() : in.zeros({3 * H});
        const AttentionResult forward = set.functions.attention(qkv, bias, shape);
        const at::Tensor d_qkv = set.functions.attention_backward(d_context, qkv, bias, forward, shape, d_bias).qkv_T3H;
        return {{"the context", forward.context_TH.narrow(0, 0, used) * weights_T1, forward_bound},
                {"the gradient of q, k and v", d_qkv.narrow(0, 0, used) * weights_T1, backward_bound},
                {"the gradient of the biases", d_bias, backward_bound},
                {"the gradient of the key's bias", is_rotary ? at::Tensor() : d_bias.narrow(0, H, H), 0},
                {"the context of rows in no sequence", forward.context_TH.narrow(0, used, padding_rows), 0},
                {"the gradient of rows in no sequence", d_qkv.narrow(0, used, padding_rows), 0}};
    };
}

ProofComputation embedding_sum(ProofInputs in) {
    const std::int64_t T = in.tokens(), H = in.shape.hidden, V = in.shape.vocabulary, P = in.shape.longest_sequence;
    const at::Tensor ids = in.below(V, T), positions = in.below(P, T), types = in.below(2, T);
    const at::Tensor word = in.normal({V, H}, in.shape.compute_dtype), position = in.normal({P, H}, in.shape.compute_dtype),
                     type = in.normal({2, H}, in.shape.compute_dtype);
    return [=](const KernelSet& set) -> Results {
        return {rounded("the sum", set.functions.embedding_sum(ids, positions, types, word, position, type))};
    };
}

ProofComputation embedding_backward(ProofInputs in) {
    const std::int64_t T = in.tokens(), H = in.shape.hidden, V = in.shape.vocabulary;
    const at::Tensor ids = in.below(V, T), types = in.below(2, T), d_sum = in.normal({T, H});
    return [=](const KernelSet& set) -> Results {
        const at::Tensor d_word = in.zeros({V, H}), d_type = in.zeros({2, H});
        set.functions.embedding_backward(d_sum, ids, d_word);
        set.functions.embedding_backward(d_sum, types, d_type);
        return {rounded("the gradient of the words", d_word), rounded("the gradient of the types", d_type)};
    };
}

ProofComputation cross_entropy(ProofInputs in) {
    const std::int64_t M = std::max<std::int64_t>(2, in.tokens() / 6), V = in.shape.vocabulary;
    const at::Tensor logits = in.normal({M, V}, in.shape.compute_dtype), bias = in.normal({V});
    const at::Tensor labels = (in.below(V, M) - in.below(2, M) * V).clamp_min(-1);  // about half of the rows have no label
    return [=](const KernelSet& set) -> Results {
        at::Tensor gradient = logits.clone();
        const at::Tensor d_bias = in.zeros({V}), totals = in.zeros({2}, at::kDouble);
        set.functions.softmax_cross_entropy(gradient, bias, labels, 0.01, d_bias, totals);
        return {rounded("the gradient of the logits", gradient),
                rounded("the gradient of the bias", d_bias),
                {"the sums of losses and hits", totals, sum_bound}};
    };
}

/// As many parts as a node has ranks, of gradients in bf16.
ProofComputation parts(ProofInputs in) {
    const std::int64_t ranks = 8, elements = in.shape.hidden * in.shape.hidden;
    const at::Tensor parts_RN = in.normal({ranks, elements}, at::kBFloat16);
    return [=](const KernelSet& set) -> Results {
        const at::Tensor sum_N = in.zeros({elements});
        set.functions.add_parts(parts_RN, sum_N);
        return {{"the sum", sum_N, 0}};
    };
}

ProofComputation matmul(ProofInputs in) {
    const std::int64_t T = in.tokens(), H = in.shape.hidden, F = in.shape.intermediate;
    const at::ScalarType compute_dtype = in.shape.compute_dtype;
    const double bound = compute_dtype == at::kBFloat16 ? bf16_bound : matmul_bound;
    const at::Tensor x = in.normal({T, H}, compute_dtype), weight = in.normal({F, H}, compute_dtype),
                     dy = in.normal({T, F}, compute_dtype);
    return [=](const KernelSet& set) -> Results {
        return {{"the output", set.matmul.gemm(x, weight.t()), bound},
                {"the gradient of the input", set.matmul.gemm(dy, weight), bound}};
    };
}

ProofComputation weight_gradient(ProofInputs in) {
    const std::int64_t T = in.tokens(), H = in.shape.hidden, F = in.shape.intermediate;
    const at::Tensor x = in.normal({T, H}, in.shape.compute_dtype), dy = in.normal({T, F}, in.shape.compute_dtype),
                     before = in.normal({F, H});
    return [=](const KernelSet& set) -> Results {
        const at::Tensor fresh = at::empty_like(before), sum = before.clone();
        set.matmul.add_weight_gradient(dy, x, fresh, /*accumulate=*/false);
        set.matmul.add_weight_gradient(dy, x, sum, /*accumulate=*/true);
        return {{"the gradient", fresh, matmul_bound}, {"the gradient added to a sum", sum, matmul_bound}};
    };
}

constexpr std::int64_t fp8_multiple = 16;  // of what a sum in fp8 runs over
/// Errors of sums in fp8: where tensor cores may drop bits, and where they may not.
constexpr double fast_fp8_bound = 2e-2, fp8_bound = 1e-3;
// Some elements are rounded to the next number. In attention, which rounds more before, these are more.
constexpr double fp8_norm_bound = 1e-2, fp8_attention_bound = 0.1;

/// A scale of 8, with which normal numbers use all binades.
Quantizer fp8_quantizer(const ProofInputs& in, at::ScalarType type) { return {type, in.zeros({}) + 8, in.zeros({})}; }

ProofComputation fp8_operands(ProofInputs in) {
    const std::int64_t T = in.tokens() / fp8_multiple * fp8_multiple, H = in.shape.hidden;
    const at::Tensor x = in.normal({T, H}, at::kBFloat16) * 100;
    return [=](const KernelSet& set) -> Results {
        Results results;
        for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
            const Quantizer by = fp8_quantizer(in, type);
            const Fp8Operand operand = set.functions.quantize({x}, by);
            results.push_back({"the rows", operand.rows_TC.to(at::kFloat), 0});
            results.push_back({"the columns", operand.columns_CT.to(at::kFloat), 0});
            results.push_back({"the largest magnitude", by.largest_1, 0});
        }
        return results;
    };
}

/// A norm whose output and input gradient are rounded to fp8, by itself or afterwards.
ProofComputation norm_in_fp8(ProofInputs in) {
    const std::int64_t T = in.tokens() / fp8_multiple * fp8_multiple, H = in.shape.hidden;
    const at::Tensor out = in.normal({T, H}, at::kBFloat16), d_normed = in.normal({T, H}, at::kBFloat16),
                     residual = in.normal({T, H}, in.shape.residual_dtype), d_sum = in.normal({T, H}, in.shape.residual_dtype);
    const NormParameters parameters{in.normal({H}) + 1, in.normal({H})};
    const Dropout dropout = in.dropout(dropout_probability, Purpose::hidden_dropout);
    const RowKeys rows{in.rows().sample_T.narrow(0, 0, T), in.rows().position_T.narrow(0, 0, T)};
    return [=](const KernelSet& set) -> Results {
        const Quantizer by = fp8_quantizer(in, at::kFloat8_e4m3fn), d_by = fp8_quantizer(in, at::kFloat8_e5m2);
        const NormResult forward = set.functions.dropout_residual_norm(
            {out, {}, residual, parameters, 1e-12, dropout, rows, at::kBFloat16, false, in.shape.residual_dtype, by});
        const NormGradients gradients = set.functions.dropout_residual_norm_backward(
            {d_normed, {}, d_sum, forward, parameters, dropout, rows, at::kBFloat16, {in.zeros({H}), in.zeros({H})}, {}, d_by});
        const Fp8Operand y = forward.normed_fp8.defined() ? forward.normed_fp8 : set.functions.quantize({forward.normed_TH}, by),
                         dx = gradients.out_fp8.defined() ? gradients.out_fp8 : set.functions.quantize({gradients.out_TH}, d_by);
        return {{"the output's rows", y.rows_TC.to(at::kFloat), fp8_norm_bound},
                {"the output's columns", y.columns_CT.to(at::kFloat), fp8_norm_bound},
                {"the output's largest magnitude", by.largest_1, bf16_bound},
                {"the rows of the gradient of the input", dx.rows_TC.to(at::kFloat), fp8_norm_bound},
                {"the columns of the gradient of the input", dx.columns_CT.to(at::kFloat), fp8_norm_bound},
                {"the largest magnitude of the gradient of the input", d_by.largest_1, bf16_bound}};
    };
}

/// Attention whose gradient is rounded to fp8, by itself or afterwards, with some rows that belong to no sequence.
ProofComputation attention_in_fp8(ProofInputs in) {
    const std::int64_t T = (in.tokens() / fp8_multiple + 1) * fp8_multiple, H = in.shape.hidden;
    const at::Tensor qkv = in.normal({T, 3 * H}, at::kBFloat16), d_context = in.normal({T, H}, at::kBFloat16);
    const Dropout dropout = in.dropout(0, Purpose::attention_dropout);
    const Rotary rotary = in.shape.is_rotary ? in.rotary() : Rotary{};
    const at::Tensor positions = in.shape.is_rotary ? in.below(in.shape.longest_sequence, T) : at::Tensor();
    return [=](const KernelSet& set) -> Results {
        const Quantizer by = fp8_quantizer(in, at::kFloat8_e5m2);
        const Attention shape{in.layout, in.shape.heads, dropout, 0, rotary, positions, by};
        const AttentionResult forward = set.functions.attention(qkv, {}, shape);
        const AttentionGradient d = set.functions.attention_backward(d_context, qkv, {}, forward, shape, {});
        const Fp8Operand operand = d.qkv_fp8.defined() ? d.qkv_fp8 : set.functions.quantize({d.qkv_T3H}, by);
        return {{"the rows of the gradient", operand.rows_TC.to(at::kFloat), fp8_attention_bound},
                {"the columns of the gradient", operand.columns_CT.to(at::kFloat), fp8_attention_bound},
                {"the largest magnitude of the gradient", by.largest_1, fp8_attention_bound}};
    };
}

ProofComputation fp8_gemm(ProofInputs in) {
    const std::int64_t T = in.tokens() / fp8_multiple * fp8_multiple, H = in.shape.hidden, F = in.shape.intermediate;
    const auto factor = [&](std::int64_t M, std::int64_t K, at::ScalarType type) {
        return Fp8Factor{(in.normal({M, K}) * 8).to(type), in.zeros({}) + 0.125};
    };
    const Fp8Factor x = factor(T, H, at::kFloat8_e4m3fn), weight = factor(F, H, at::kFloat8_e4m3fn),
                    dy = factor(T, F, at::kFloat8_e5m2), weight_by_column = factor(H, F, at::kFloat8_e4m3fn),
                    dy_by_column = factor(F, T, at::kFloat8_e5m2), x_by_column = factor(H, T, at::kFloat8_e4m3fn);
    return [=](const KernelSet& set) -> Results {
        return {{"the output", set.matmul.fp8_gemm(x, weight, at::kBFloat16, true), fast_fp8_bound},
                {"the gradient of the input", set.matmul.fp8_gemm(dy, weight_by_column, at::kBFloat16, false),
                 bf16_bound + fp8_bound},
                {"the gradient of the weight", set.matmul.fp8_gemm(dy_by_column, x_by_column, at::kFloat, false), fp8_bound}};
    };
}

/// An operation that consists of these members of the function table.
template <auto... members>
ProofOperation functions(const char* name, std::vector<ProofCase> cases) {
    return {name, [](const KernelSet& a, const KernelSet& b) { return ((a.functions.*members == b.functions.*members) && ...); },
            [](KernelSet& to, const KernelSet& from) { ((to.functions.*members = from.functions.*members), ...); },
            std::move(cases)};
}

/// An operation that is one matmul function. There is nothing to compare if a set leaves the choice to matmul.cpp.
template <auto member>
ProofOperation matmul_function(const char* name, ProofCase one) {
    return {name,
            [](const KernelSet& a, const KernelSet& b) {
                const auto of_a = a.matmul.*member, of_b = b.matmul.*member;
                return of_a == of_b || of_a == nullptr || of_b == nullptr;
            },
            [](KernelSet& to, const KernelSet& from) { to.matmul.*member = from.matmul.*member; },
            {std::move(one)}};
}

/// @param compute is called with the inputs and `more`
template <class... More>
ProofCase a_case(const char* name, ProofComputation (*compute)(ProofInputs, More...), std::type_identity_t<More>... more) {
    return {name, [=](at::Device device, const ProofShape& shape, const std::vector<std::int64_t>& lengths) {
                return compute(ProofInputs(device, shape, lengths), more...);
            }};
}

/// Whether the set draws dropout masks from our counters, so that they equal the reference's.
bool counts_dropout(const KernelSet& set, const ProofShape& shape, std::int64_t longest) {
    return set.counts_dropout == nullptr || set.counts_dropout(longest, shape.hidden / shape.heads, shape.compute_dtype);
}

constexpr std::int64_t short_sequence = 128;  // a set may have separate kernels up to this length

/// @param longest  sequences are cut off there @param windowed  whether attention is within the shape's window, if it has one
ProofCase attention_case(const char* name, double probability, std::int64_t longest, bool windowed) {
    ProofCase one{name, [=](at::Device device, const ProofShape& shape, std::vector<std::int64_t> lengths) {
                      for (std::int64_t& length : lengths) length = std::min(length, longest);
                      return attention(ProofInputs(device, shape, lengths), probability, windowed ? shape.window : 0);
                  }};
    if (probability > 0)
        one.applies = [=](const KernelSet& set, const ProofShape& shape) {
            return counts_dropout(set, shape, std::min(shape.longest_sequence, longest));
        };
    if (windowed) one.is_of = [](const ProofShape& shape) { return shape.window > 0; };
    return one;
}

ProofOperation attention_operation(const ProofCase& in_fp8) {
    constexpr double p = dropout_probability;
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    ProofOperation operation = functions<&FunctionTable::attention, &FunctionTable::attention_backward>(
        "attention",
        {attention_case("without dropout", 0, any, false), attention_case("with dropout", p, any, false),
         attention_case("of short sequences, with dropout", p, short_sequence, false),
         attention_case("within a window", 0, any, true), attention_case("within a window, with dropout", p, any, true),
         attention_case("of short sequences, within a window, with dropout", p, short_sequence, true), in_fp8});
    operation.take = [take = operation.take](KernelSet& to, const KernelSet& from) {
        take(to, from);
        to.counts_dropout = from.counts_dropout;
    };
    return operation;
}

std::vector<ProofOperation> all_operations() {
    using Table = FunctionTable;
    std::vector<ProofOperation> all;
    ProofCase fp8_norm = a_case("in fp8", norm_in_fp8), fp8_attention = a_case("in fp8", attention_in_fp8),
              in_fp8 = a_case("", fp8_operands), fp8_matmul = a_case("", fp8_gemm);
    fp8_norm.is_of = fp8_attention.is_of = in_fp8.is_of =
        fp8_matmul.is_of = [](const ProofShape& shape) { return shape.fp8_matmuls; };
    all.push_back(functions<&Table::dropout_residual_norm, &Table::dropout_residual_norm_backward>(
        "dropout + residual + LayerNorm", {a_case("", norm, true), a_case("without input", norm, false), fp8_norm}));
    all.push_back(functions<&Table::dropout_rows>("dropout", {a_case("", dropout_rows)}));
    all.push_back(functions<&Table::bias_activation, &Table::bias_activation_backward>("bias + GELU", {a_case("", activation)}));
    ProofCase gated = a_case("", gated_activation), rotary = a_case("", rotation);
    gated.is_of = [](const ProofShape& shape) { return shape.is_gated; };
    rotary.is_of = [](const ProofShape& shape) { return shape.is_rotary; };
    all.push_back(functions<&Table::gated_activation, &Table::gated_activation_backward>("gated activation", {gated}));
    all.push_back(functions<&Table::rotate>("rotary positions", {rotary}));
    all.push_back(attention_operation(fp8_attention));
    all.push_back(functions<&Table::embedding_sum>("embedding sum", {a_case("", embedding_sum)}));
    all.push_back(functions<&Table::embedding_backward>("embedding gradient", {a_case("", embedding_backward)}));
    all.push_back(functions<&Table::softmax_cross_entropy>("softmax cross entropy", {a_case("", cross_entropy)}));
    all.push_back(functions<&Table::add_parts>("sum over ranks", {a_case("", parts)}));
    all.push_back(matmul_function<&MatmulFunctions::gemm>("matmul", a_case("", matmul)));
    all.push_back(matmul_function<&MatmulFunctions::add_weight_gradient>("matmul, weight gradient", a_case("", weight_gradient)));
    all.push_back(functions<&Table::quantize>("rounding to fp8", {in_fp8}));
    all.push_back(matmul_function<&MatmulFunctions::fp8_gemm>("matmul in fp8", fp8_matmul));
    all.push_back({"optimizer",
                   [](const KernelSet& a, const KernelSet& b) { return a.optimizer == b.optimizer; },
                   [](KernelSet& to, const KernelSet& from) { to.optimizer = from.optimizer; },
                   {a_case("", optimizer_computation)}});
    return all;
}

}  // namespace

const std::vector<ProofOperation>& proof_operations() {
    static const std::vector<ProofOperation> all = all_operations();
    return all;
}

}  // namespace bertpretrain
