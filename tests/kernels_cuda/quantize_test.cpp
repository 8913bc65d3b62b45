#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Checks that the kernel gives the reference's bits, in two orders of threads.
void check(const at::Tensor& x_TC, float scale) {
    for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
        CAPTURE(type, x_TC.sizes());
        const auto quantizer = [&] { return Quantizer{type, at::full({}, scale), at::full({}, 0.01F)}; };
        const Quantizer right_by = quantizer();
        const Fp8Operand right = reference::quantize({x_TC}, right_by);
        const auto ours = in_two_orders([&] {
            const Quantizer by = quantizer();
            const Fp8Operand operand = cuda::quantize({x_TC}, by);
            return std::pair{operand, by.largest_1};
        });
        for (const auto& [operand, largest_1] : {ours.first, ours.second}) {
            CHECK(operand.rows_TC.scalar_type() == type);
            CHECK(at::equal(operand.rows_TC.view(at::kByte), right.rows_TC.view(at::kByte)));
            CHECK(at::equal(operand.columns_CT.view(at::kByte), right.columns_CT.view(at::kByte)));
            CHECK(same_bits(largest_1, right_by.largest_1));
        }
    }
}

/// The activations' own kernels.
FunctionTable activations() {
    FunctionTable table{};
    table.bias_activation = cuda::bias_activation, table.bias_activation_backward = cuda::bias_activation_backward;
    table.gated_activation = cuda::gated_activation, table.gated_activation_backward = cuda::gated_activation_backward;
    return table;
}

}  // namespace

TEST_CASE("rounding to fp8 on CUDA equals the reference bit for bit, at every size") {
    RandomTensors random(3);
    for (const auto& [T, C] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {4, 4}, {128, 64}, {132, 68}, {16, 260}, {256, 32}, {400, 128}, {3, 8}, {8, 6}, {1, 1}})
        for (const float scale : {1.0F, 64.0F, 0.5F}) check(random.normal({T, C}, at::kBFloat16), scale);
    check(unaligned(random.normal({16, 32}, at::kBFloat16)), 2);
}

TEST_CASE("every bf16 number becomes the same fp8 number on CUDA as in the reference") {
    const at::Tensor bits = at::arange(-32768, 32768, at::TensorOptions(at::kInt)).to(at::kShort).view({256, 256});
    const at::Tensor all_TC = bits.view(at::kBFloat16);
    check(at::where(all_TC.isnan(), at::zeros_like(all_TC), all_TC), 1);
    check(at::where(all_TC.isfinite(), all_TC, at::zeros_like(all_TC)), 1 << 20);
}

TEST_CASE("NaN stays NaN in fp8 on CUDA, and is the largest magnitude") {
    at::Tensor x_TC = at::ones({8, 8}, at::kBFloat16);
    x_TC[5][3] = NAN;
    for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
        const Quantizer by{type, at::ones({}), at::zeros({})};
        const Fp8Operand operand = cuda::quantize({x_TC}, by);
        CHECK(at::equal(operand.rows_TC.to(at::kFloat).isnan(), x_TC.isnan()));
        CHECK(at::equal(operand.columns_CT.to(at::kFloat).isnan(), x_TC.isnan().t()));
        CHECK(std::isnan(by.largest_1.item<float>()));
    }
}

TEST_CASE("an activation and its gradient become the fp8 numbers of their bf16 results on CUDA") {
    RandomTensors random(7);
    for (const Activation activation : {Activation::gelu_erf, Activation::gelu_tanh, Activation::silu})
        for (const auto& [T, F] :
             std::vector<std::pair<std::int64_t, std::int64_t>>{{128, 64}, {132, 68}, {264, 20}, {5, 8}, {8, 6}})
            for (const bool is_gated : {false, true})
                for (const bool is_backward : {false, true})
                    for (const bool has_bias : {false, true}) {
                        CAPTURE(static_cast<int>(activation), T, F, is_gated, is_backward, has_bias);
                        OperandSource source{.x_TC = random.normal({T, is_gated ? 2 * F : F}, at::kBFloat16),
                                             .activation = activation,
                                             .is_gated = is_gated};
                        if (has_bias && !is_gated) source.bias_C = random.normal({F});
                        if (is_backward) source.dy_TF = random.normal({T, F}, at::kBFloat16);
                        const auto by = [&] {
                            return Quantizer{is_backward ? at::kFloat8_e5m2 : at::kFloat8_e4m3fn, at::full({}, 16.0),
                                             at::zeros({})};
                        };
                        const auto with_sums = [&] {
                            OperandSource own = source;
                            if (is_backward && has_bias && !is_gated) own.d_bias_C = at::ones({F});
                            return own;
                        };
                        const OperandSource of_right = with_sums();
                        const Quantizer right_by = by();
                        const Fp8Operand right = reference::quantize({value_of(of_right, activations())}, right_by);
                        const auto ours = in_two_orders([&] {
                            const OperandSource own = with_sums();
                            const Quantizer own_by = by();
                            const Fp8Operand operand = cuda::quantize(own, own_by);
                            return std::tuple{operand, own_by.largest_1, own.d_bias_C};
                        });
                        const auto& [operand, largest_1, d_bias_C] = ours.first;
                        CHECK(at::equal(operand.rows_TC.view(at::kByte), right.rows_TC.view(at::kByte)));
                        CHECK(at::equal(operand.columns_CT.view(at::kByte), right.columns_CT.view(at::kByte)));
                        CHECK(same_bits(largest_1, right_by.largest_1));
                        if (!d_bias_C.defined()) continue;
                        CHECK_ROUNDED(d_bias_C, of_right.d_bias_C);
                        CHECK(same_bits(std::get<2>(ours.second), d_bias_C));
                    }
}
