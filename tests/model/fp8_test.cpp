// Models whose layers' matmuls have operands in fp8, on the CPU, which emulates them.
#include <cmath>

#include "kernels/kernels_in_use.h"
#include "model/fp8_scales.h"
#include "model/small_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::vector<std::int64_t> some_lengths{1, 2, 17, 33, 40, 5, 30};

OwnedModel fp8_model(const ModelConfig& config, bool checkpointing = false) {
    OwnedModel model(config, at::kBFloat16, {.seed = 5, .activation_checkpointing = checkpointing, .fp8_matmuls = true});
    model.randomize(3);
    return model;
}

/// A pass whose magnitudes give the scales of the next one, as training's first step does. @returns the sums of its losses
at::Tensor measure(const OwnedModel& model, const MicroBatch& batch) {
    Fp8Scales& scales = *model->fp8_scales();
    scales.begin_step();
    const at::Tensor sums = sums_of(model, batch, mean_over(batch)).tensor().clone();
    scales.hear(scales.word());
    model.parameters.gradients().zero_();
    return sums;
}

/// The usual kernels, but norms and attention round to fp8 themselves what they may round, as those of a GPU do.
struct RoundingKernels {
    static inline FunctionTable usual;
    static inline std::int64_t rounded = 0;  ///< operands

    RoundingKernels() {
        KernelSet set = kernels_for(at::kCPU);
        usual = set.functions;
        set.functions.dropout_residual_norm = [](const NormArguments& arguments) {
            NormResult result = usual.dropout_residual_norm(arguments);
            if (arguments.quantizer) round(result.normed_TH, *arguments.quantizer, result.normed_fp8);
            return result;
        };
        set.functions.dropout_residual_norm_backward = [](const NormBackwardArguments& arguments) {
            NormGradients gradients = usual.dropout_residual_norm_backward(arguments);
            if (arguments.quantizer) round(gradients.out_TH, *arguments.quantizer, gradients.out_fp8);
            return gradients;
        };
        set.functions.attention_backward = [](const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H,
                                              const at::Tensor& bias_3H, const AttentionResult& forward, const Attention& shape,
                                              const at::Tensor& d_bias_3H) {
            AttentionGradient d = usual.attention_backward(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
            if (shape.quantizer) round(d.qkv_T3H, *shape.quantizer, d.qkv_fp8);
            return d;
        };
        use_kernels(at::kCPU, set);
    }
    RoundingKernels(const RoundingKernels&) = delete;
    RoundingKernels& operator=(const RoundingKernels&) = delete;
    ~RoundingKernels() { use_usual_kernels(at::kCPU); }

    static void round(at::Tensor& rows_TH, const Quantizer& by, Fp8Operand& operand) {
        operand = usual.quantize({rows_TH}, by);
        rows_TH.reset();
        ++rounded;
    }
};

}  // namespace

TEST_CASE("the first step measures magnitudes and computes in bf16, the second rounds every layer's operands") {
    for (const auto& [name, config] : odd_models()) {
        const MicroBatch batch = random_batch(config, some_lengths);
        OwnedModel in_bf16(config, at::kBFloat16, {5, false});
        in_bf16.randomize(3);
        const at::Tensor sums = sums_of(in_bf16, batch, mean_over(batch)).tensor();
        const OwnedModel model = fp8_model(config);
        CHECK(model->fp8_scales()->state().empty());
        CHECK(same_bits(measure(model, batch), sums));
        CHECK(model->fp8_scales()->ready());
        const at::Tensor rounded = sums_of(model, batch, mean_over(batch)).tensor();
        CHECK(relative_error(rounded, sums) < 0.05);
        for (const PlacedParameter& parameter : model.parameters.layout().parameters()) {
            CAPTURE(name, parameter.spec.name);
            const at::Tensor ours = model.parameters.gradient(parameter.spec.name),
                             right = in_bf16.parameters.gradient(parameter.spec.name);
            if (right.abs().sum().item<float>() == 0) continue;  // the key's bias
            CHECK(relative_error(ours, right) < 0.3);
            if (parameter.spec.shape.size() == 2 && parameter.spec.name.find("layer") != std::string::npos)
                CHECK_FALSE(same_bits(ours, right));
        }
        CHECK(same_bits(model->encode(batch), in_bf16->encode(batch)));  // inference is in bf16
    }
}

TEST_CASE("in fp8 activation checkpointing changes no bit, and neither does a second pass") {
    for (const auto& [name, config] : odd_models()) {
        CAPTURE(name);
        const MicroBatch batch = random_batch(config, some_lengths);
        const OwnedModel kept = fp8_model(config), again = fp8_model(config, /*checkpointing=*/true);
        measure(kept, batch), measure(again, batch);
        CHECK(kept->fp8_scales()->state() == again->fp8_scales()->state());
        const at::Tensor sums = sums_of(kept, batch, mean_over(batch)).tensor();
        CHECK(same_bits(sums_of(again, batch, mean_over(batch)).tensor(), sums));
        CHECK(same_bits(again.parameters.gradients(), kept.parameters.gradients()));
        CHECK(kept->fp8_scales()->word() == again->fp8_scales()->word());
    }
}

TEST_CASE("norms and attention that round the next matmul's operand to fp8 themselves change no bit") {
    for (const auto& [name, config] : odd_models())
        for (const bool checkpointing : {false, true}) {
            CAPTURE(name, checkpointing);
            const MicroBatch batch = random_batch(config, some_lengths);
            const OwnedModel right = fp8_model(config, checkpointing), ours = fp8_model(config, checkpointing);
            measure(right, batch);
            const at::Tensor sums = sums_of(right, batch, mean_over(batch)).tensor();

            const RoundingKernels kernels;
            kernels.rounded = 0;
            measure(ours, batch);
            CHECK(kernels.rounded == 0);  // the first step is in bf16
            CHECK(same_bits(sums_of(ours, batch, mean_over(batch)).tensor(), sums));
            CHECK(same_bits(ours.parameters.gradients(), right.parameters.gradients()));
            CHECK(ours->fp8_scales()->word() == right->fp8_scales()->word());
            // All but the last layer have two norms, each of whose directions is rounded; checkpointing computes forwards twice.
            // All have attention, whose backward is rounded.
            const auto layers = static_cast<std::int64_t>(ours->fp8_scales()->word().size() / 12);
            REQUIRE(layers > 1);
            CHECK(kernels.rounded == (checkpointing ? 6 : 4) * (layers - 1) + layers);
        }
}

TEST_CASE("in fp8 losses and gradients do not depend on how samples are cut into micro-batches") {
    for (const auto& [name, config] : odd_models()) {
        const UnpaddedSamples samples = random_samples(config, some_lengths);
        const MicroBatch whole = build_batch(samples);
        const LossScale scale = mean_over(whole);
        const OwnedModel model = fp8_model(config);
        measure(model, whole);
        const at::Tensor sums = sums_of(model, whole, scale).tensor(), gradients = model.parameters.gradients().clone();
        const std::vector<double> magnitudes = model->fp8_scales()->word();
        model.parameters.gradients().zero_();
        model->fp8_scales()->begin_step();
        const LossSums of_parts(at::kCPU);
        for (const auto& [first, end] : {std::pair{0, 3}, {3, 7}})
            model->forward_backward(build_batch(part_of(samples, first, end)), scale, of_parts, {});
        CAPTURE(name);
        CHECK(relative_error(of_parts.tensor(), sums) < 2e-3);  // in bf16 a library may add in another order
        CHECK(relative_error(model.parameters.gradients(), gradients) < 2e-2);
        const std::vector<double> of_cut = model->fp8_scales()->word();
        for (std::size_t site = 0; site < magnitudes.size(); ++site) CHECK(of_cut[site] == Approx(magnitudes[site]).epsilon(0.3));
    }
}

TEST_CASE("weights are rounded to fp8 once per step, whose passes all read the same") {
    const ModelConfig config = odd_models().front().second;
    const MicroBatch batch = random_batch(config, some_lengths);
    OwnedModel model = fp8_model(config);
    measure(model, batch);
    const auto loss = [&] { return sums_of(model, batch, mean_over(batch)).tensor().clone(); };
    const at::Tensor before = loss();
    const std::int64_t layer = 0;
    const at::Tensor rows_OI = model->fp8_scales()->weight(layer, LayerLinear::qkv).rows_TC;
    loss();
    CHECK(model->fp8_scales()->weight(layer, LayerLinear::qkv).rows_TC.is_same(rows_OI));
    model.randomize(4);
    model->fp8_scales()->begin_step();
    CHECK_FALSE(model->fp8_scales()->weight(layer, LayerLinear::qkv).defined());
    const at::Tensor after = loss();
    CHECK_FALSE(same_bits(after, before));
    model->fp8_scales()->hear(std::vector<double>(model->fp8_scales()->word().size(), 1));
    CHECK_FALSE(model->fp8_scales()->weight(layer, LayerLinear::qkv).defined());  // their scales are others now
}

TEST_CASE("scales are powers of two that leave one bit above the largest magnitude over all ranks") {
    Fp8Scales scales(1, at::kCPU);
    std::vector<double> of_all(24, 0);  // of two ranks
    const auto scale = [&](LayerLinear linear, LinearRole role) {
        return scales.quantizer(0, linear, role).scale_1.item<double>();
    };
    of_all[0] = 3, of_all[12] = 3.5, of_all[14] = 1e-9;
    scales.hear(of_all);
    CHECK(scale(LayerLinear::qkv, LinearRole::input) == 64);  // 3.5 * 64 = 448 / 2
    CHECK(scale(LayerLinear::qkv, LinearRole::weight) == 1);  // nothing is known
    const double of_gradient = scale(LayerLinear::qkv, LinearRole::gradient) * 1e-9;
    CHECK((of_gradient > 57344 / 4.0 && of_gradient <= 57344 / 2.0));
    CHECK(scales.inverse_scale(0, LayerLinear::qkv, LinearRole::input).item<double>() == 1.0 / 64);
    CHECK(scales.quantizer(0, LayerLinear::qkv, LinearRole::gradient).type == at::kFloat8_e5m2);

    of_all[0] = of_all[12] = 0, of_all[1] = 448, of_all[2] = of_all[14] = 0;  // zeros keep the scales
    scales.hear(of_all);
    CHECK(scale(LayerLinear::qkv, LinearRole::input) == 64);
    CHECK(scale(LayerLinear::qkv, LinearRole::weight) == 0.5);
    CHECK(scale(LayerLinear::qkv, LinearRole::gradient) * 1e-9 == of_gradient);

    of_all[0] = 1000, of_all[5] = NAN;  // a step that is not finite changes none
    scales.hear(of_all);
    CHECK(scale(LayerLinear::qkv, LinearRole::input) == 64);

    Fp8Scales other(1, at::kCPU), larger(2, at::kCPU);
    other.restore(scales.state());
    CHECK(other.state() == scales.state());
    CHECK(other.quantizer(0, LayerLinear::qkv, LinearRole::input).scale_1.item<double>() == 64);
    CHECK_THROWS_WITH(larger.restore(scales.state()), Catch::Contains("fp8_magnitudes has 12 numbers, expected 24"));
    other.restore({});
    CHECK_FALSE(other.ready());
}
