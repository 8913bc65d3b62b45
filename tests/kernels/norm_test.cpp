#include "kernels/kernel_inputs.h"
#include "kernels/reference/dropout_factors.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr double eps = 1e-12;

/// Which of the optional tensors are defined.
struct Choice {
    bool out, residual, d_normed, d_residual, d_sum, biases = true;
    NormKind kind = NormKind::layer;
};
const std::vector<Choice> choices{{true, true, true, true, false},   // post-LN, inner layers
                                  {true, true, false, true, false},  // post-LN, last layer
                                  {true, true, true, false, true},   // pre-LN
                                  {true, false, true, false, true},  // pre_ln_zero_residual, layer 0
                                  {false, true, true, false, false},
                                  {false, true, false, true, true},
                                  {true, true, true, false, true, false},
                                  {false, true, true, false, false, false},
                                  {true, true, true, false, true, false, NormKind::rms},
                                  {false, true, true, true, true, true, NormKind::rms}};

/// The types that a run may have.
struct Types {
    at::ScalarType compute = at::kFloat, residual = at::kFloat;
};
const std::vector<Types> all_types{{}, {at::kBFloat16, at::kFloat}, {at::kBFloat16, at::kBFloat16}};

struct Inputs {
    at::Tensor out_TH, bias_H, residual_TH, d_normed_TH, d_residual_TH, d_sum_TH;
    NormParameters norm;
    at::Tensor weight_before_H, norm_bias_before_H, bias_before_H;  ///< earlier contents of the gradients
    Types types;

    Inputs(const Choice& choice, std::int64_t T, std::int64_t H, const Types& of) : types(of) {
        RandomTensors random(static_cast<std::uint64_t>(H));
        if (choice.out) out_TH = random.normal({T, H}, types.compute);
        if (choice.out && choice.biases) bias_H = random.normal({H});
        if (choice.residual) residual_TH = (random.normal({T, H}) + 0.5).to(types.residual);
        if (choice.d_normed) d_normed_TH = random.normal({T, H}, types.compute);
        if (choice.d_residual) d_residual_TH = random.normal({T, H}, types.residual);
        if (choice.d_sum) d_sum_TH = random.normal({T, H}, types.residual);
        norm = {random.normal({H}) + 1, choice.biases ? random.normal({H}) : at::Tensor(), choice.kind};
        weight_before_H = random.normal({H});
        norm_bias_before_H = random.normal({H});
        bias_before_H = random.normal({H});
    }
};

/// All results of forward and backward.
struct Results {
    NormResult forward;
    NormGradients gradients;
    NormParameters d_norm;
    at::Tensor d_bias_H;
};

Results run(const Operations& operations, const Inputs& in, const Ragged& batch, double probability) {
    Results results;
    const Dropout dropout = dropout_of(probability);
    results.forward = operations.dropout_residual_norm(
        {in.out_TH, in.bias_H, in.residual_TH, in.norm, eps, dropout, batch.rows, in.types.compute, true, in.types.residual});
    results.d_norm.weight_H = in.weight_before_H.clone();
    if (in.norm.bias_H.defined()) results.d_norm.bias_H = in.norm_bias_before_H.clone();
    if (in.bias_H.defined()) results.d_bias_H = in.bias_before_H.clone();
    results.gradients =
        operations.dropout_residual_norm_backward({in.d_normed_TH, in.d_residual_TH, in.d_sum_TH, results.forward, in.norm,
                                                   dropout, batch.rows, in.types.compute, results.d_norm, results.d_bias_H});
    return results;
}

/// The same by autograd through torch's own layer_norm, in float64.
/// @param rounded_TH what the sum was rounded to, in bf16; undefined: it is not rounded
Results expected(const Inputs& in, const Ragged& batch, double probability, const at::Tensor& rounded_TH) {
    const std::int64_t H = in.norm.weight_H.size(0);
    const at::Tensor out = leaf(in.out_TH), bias = leaf(in.bias_H), weight = leaf(in.norm.weight_H),
                     norm_bias = leaf(in.norm.bias_H);
    at::Tensor sum = at::zeros({batch.tokens(), H}, at::kDouble).requires_grad_() * 1;
    if (in.out_TH.defined()) {
        const at::Tensor keep = reference::dropout_factors(dropout_of(probability), batch.rows.sample_T, batch.rows.position_T,
                                                           at::zeros_like(batch.rows.sample_T), H);
        sum = sum + (bias.defined() ? out + bias : out) * (probability > 0 ? keep.to(at::kDouble) : at::ones_like(out));
    }
    if (in.residual_TH.defined()) sum = sum + in.residual_TH.to(at::kDouble);
    const at::Tensor unrounded_TH = sum.detach();
    if (rounded_TH.defined()) sum = sum + (rounded_TH.to(at::kDouble) - unrounded_TH);
    sum.retain_grad();
    const bool is_rms = in.norm.kind == NormKind::rms;
    at::Tensor normed =
        is_rms ? sum * (sum.square().mean(1, true) + eps).rsqrt() * weight : at::layer_norm(sum, {H}, weight, norm_bias, eps);
    if (is_rms && norm_bias.defined()) normed = normed + norm_bias;
    at::Tensor objective = at::zeros({}, at::kDouble);
    for (const at::Tensor& d : {in.d_normed_TH, in.d_residual_TH})
        if (d.defined()) objective = objective + (normed * d.to(at::kDouble)).sum();
    if (in.d_sum_TH.defined()) objective = objective + (sum * in.d_sum_TH.to(at::kDouble)).sum();
    objective.backward();
    Results results;
    results.forward.sum_TH = unrounded_TH;
    results.forward.normed_TH = results.forward.normed_fp32_TH = normed.detach();
    results.forward.mean_T = is_rms ? at::zeros({batch.tokens()}) : sum.detach().mean(1);
    results.forward.rstd_T = ((is_rms ? sum.detach().square().mean(1) : sum.detach().var(1, false)) + eps).rsqrt();
    results.gradients.sum_TH = sum.grad();
    results.d_norm.weight_H = weight.grad() + in.weight_before_H;
    if (norm_bias.defined()) results.d_norm.bias_H = norm_bias.grad() + in.norm_bias_before_H;
    if (in.out_TH.defined()) results.gradients.out_TH = out.grad();
    if (bias.defined()) results.d_bias_H = bias.grad() + in.bias_before_H;
    return results;
}

}  // namespace

TEST_CASE("dropout + residual + LayerNorm or RMSNorm and its backward equal autograd, with and without each optional tensor") {
    const Ragged batch = ragged({1, 2, 37, 5, 30});
    for (const Types& types : all_types)
        for (const double probability : {0.0, 0.1})
            for (const std::int64_t H : {40, 101, 136})
                for (const Choice& choice : choices) {
                    const Inputs in(choice, batch.tokens(), H, types);
                    for (const Operations& operations : both_implementations) {
                        CAPTURE(operations.name, types.compute, types.residual, probability, H, choice.out, choice.residual,
                                choice.d_normed, choice.d_residual, choice.d_sum, choice.biases, static_cast<int>(choice.kind));
                        const Results results = run(operations, in, batch, probability);
                        const bool rounds = types.residual == at::kBFloat16;
                        const Results right = expected(in, batch, probability, rounds ? results.forward.sum_TH : at::Tensor());
                        CHECK(results.forward.normed_TH.scalar_type() == types.compute);
                        CHECK(results.forward.sum_TH.scalar_type() == types.residual);
                        CHECK(results.gradients.sum_TH.scalar_type() == types.residual);
                        CHECK_ROUNDED(results.forward.sum_TH, right.forward.sum_TH);
                        CHECK_ROUNDED(results.forward.normed_TH, right.forward.normed_TH);
                        CHECK_ROUNDED(results.forward.normed_fp32_TH, right.forward.normed_fp32_TH);
                        CHECK_ROUNDED(results.forward.mean_T, right.forward.mean_T);
                        CHECK_ROUNDED(results.forward.rstd_T, right.forward.rstd_T);
                        CHECK_ROUNDED(results.gradients.sum_TH, right.gradients.sum_TH);
                        CHECK_ROUNDED(results.d_norm.weight_H, right.d_norm.weight_H);
                        if (choice.biases) CHECK_ROUNDED(results.d_norm.bias_H, right.d_norm.bias_H);
                        CHECK(results.gradients.out_TH.defined() == choice.out);
                        if (!choice.out) continue;
                        CHECK(results.gradients.out_TH.scalar_type() == types.compute);
                        CHECK_ROUNDED(results.gradients.out_TH, right.gradients.out_TH);
                        if (choice.biases) CHECK_ROUNDED(results.d_bias_H, right.d_bias_H);
                    }
                }
}

TEST_CASE("both implementations drop the same elements") {
    const Ragged batch = ragged({1, 2, 37});
    const Inputs in({true, false, true, false, false}, batch.tokens(), 101, all_types[1]);
    const at::Tensor dropped = run(reference_operations, in, batch, 0.1).forward.sum_TH.eq(0);
    CHECK(dropped.any().item<bool>());
    CHECK(at::equal(dropped, run(cpu_operations, in, batch, 0.1).forward.sum_TH.eq(0)));
}

TEST_CASE("the fp32 copy of a normalized row is kept only on request") {
    const Ragged batch = ragged({3});
    const Inputs in(choices[0], 3, 40, {});
    for (const Operations& operations : both_implementations)
        CHECK_FALSE(
            operations
                .dropout_residual_norm({in.out_TH, in.bias_H, in.residual_TH, in.norm, eps, {}, batch.rows, at::kFloat, false})
                .normed_fp32_TH.defined());
}

TEST_CASE("a residual that is a LayerNorm is recomputed to rounding") {
    Choice inner = choices[0];
    for (const Types& types : all_types)
        for (const std::int64_t H : {7, 256, 1024}) {
            inner.biases = H != 256;
            CAPTURE(types.compute, types.residual, H, inner.biases);
            const Inputs in(inner, 13, H, types), before(inner, 13, H, types);
            const Ragged batch = ragged({13});
            const NormResult normed = reference::dropout_residual_norm({before.out_TH,
                                                                        before.bias_H,
                                                                        before.residual_TH,
                                                                        before.norm,
                                                                        eps,
                                                                        {},
                                                                        batch.rows,
                                                                        types.compute,
                                                                        true,
                                                                        types.residual});
            const auto run_with = [&](const Operations& operations, const Residual& residual) {
                return operations.dropout_residual_norm({in.out_TH, in.bias_H, residual, in.norm, eps, dropout_of(0.1),
                                                         batch.rows, types.compute, false, types.residual});
            };
            const NormResult right = run_with(reference_operations, normed.normed_fp32_TH),
                             ours = run_with(cpu_operations, Residual::of(normed, before.norm));
            CHECK_ROUNDED(ours.sum_TH, right.sum_TH);
            CHECK_ROUNDED(ours.normed_TH, right.normed_TH);
        }
}

TEST_CASE("normalizing rows far from zero loses only the precision that their sum has lost") {
    const Ragged batch = ragged({2});
    const Inputs in({false, true, true, false, false}, 2, 136, {});
    const at::Tensor far_TH = in.residual_TH + 300;
    const at::Tensor right =
        at::layer_norm(far_TH.to(at::kDouble), {136}, in.norm.weight_H.to(at::kDouble), in.norm.bias_H.to(at::kDouble), eps);
    for (const Operations& operations : both_implementations) {
        CAPTURE(operations.name);
        CHECK(relative_error(
                  operations.dropout_residual_norm({{}, {}, far_TH, in.norm, eps, {}, batch.rows, at::kFloat, false}).normed_TH,
                  right) < 5e-5);
    }
}
