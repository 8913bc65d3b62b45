#include "kernels/cpu/instruction_set.h"
#include "kernels/kernel_inputs.h"
#include "kernels/matmul.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr Activation activations[] = {Activation::gelu_erf, Activation::gelu_tanh, Activation::silu};

at::Tensor activated(const at::Tensor& x, Activation activation) {
    if (activation == Activation::silu) return at::silu(x);
    return at::gelu(x, activation == Activation::gelu_erf ? "none" : "tanh");
}

}  // namespace

TEST_CASE("an activation of x + bias and its backward equal autograd, with and without a bias") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const Activation activation : activations)
            for (const std::int64_t F : {1, 72, 136})
                for (const auto& [T, has_bias] :
                     std::vector<std::pair<std::int64_t, bool>>{{1, true}, {2, true}, {37, true}, {37, false}}) {
                    RandomTensors random(static_cast<std::uint64_t>(F + T));
                    const at::Tensor x_TF = (random.normal({T, F}) * 2).to(compute_dtype),
                                     bias_F = has_bias ? random.normal({F}) : at::Tensor();
                    const at::Tensor dy_TF = random.normal({T, F}, compute_dtype), before_F = random.normal({F});
                    const at::Tensor x = leaf(x_TF), bias = leaf(bias_F);
                    const at::Tensor y = activated(has_bias ? x + bias : x, activation);
                    (y * dy_TF.to(at::kDouble)).sum().backward();
                    for (const Operations& operations : both_implementations) {
                        CAPTURE(operations.name, compute_dtype, static_cast<int>(activation), F, T, has_bias);
                        const at::Tensor y_TF = operations.bias_activation(x_TF, bias_F, activation),
                                         d_bias_F = has_bias ? before_F.clone() : at::Tensor();
                        const at::Tensor dx_TF = operations.bias_activation_backward(dy_TF, x_TF, bias_F, activation, d_bias_F);
                        CHECK(y_TF.scalar_type() == compute_dtype);
                        CHECK(dx_TF.scalar_type() == compute_dtype);
                        CHECK_ROUNDED(y_TF, y.detach());
                        CHECK_ROUNDED(dx_TF, x.grad());
                        if (has_bias) CHECK_ROUNDED(d_bias_F, bias.grad() + before_F);
                    }
                }
}

TEST_CASE("a gated activation and its backward equal autograd") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const Activation activation : activations)
            for (const std::int64_t F : {1, 72, 600}) {
                RandomTensors random(static_cast<std::uint64_t>(F));
                const at::Tensor x_T2F = (random.normal({37, 2 * F}) * 2).to(compute_dtype),
                                 dy_TF = random.normal({37, F}, compute_dtype), x = leaf(x_T2F);
                const at::Tensor y = activated(x.narrow(1, 0, F), activation) * x.narrow(1, F, F);
                (y * dy_TF.to(at::kDouble)).sum().backward();
                for (const Operations& operations : both_implementations) {
                    CAPTURE(operations.name, compute_dtype, static_cast<int>(activation), F);
                    CHECK_ROUNDED(operations.gated_activation(x_T2F, activation), y.detach());
                    const at::Tensor dx_T2F = operations.gated_activation_backward(dy_TF, x_T2F, activation);
                    CHECK(dx_T2F.scalar_type() == compute_dtype);
                    CHECK_ROUNDED(dx_T2F, x.grad());
                }
            }
}

TEST_CASE("activations are right for inputs from -200 to 200") {
    const at::Tensor x_TF = at::linspace(-200, 200, 8001).unsqueeze(0), no_bias_F = at::zeros({8001});
    for (const Activation activation : activations)
        for (const Operations& operations : both_implementations) {
            CAPTURE(operations.name, static_cast<int>(activation));
            const at::Tensor x = leaf(x_TF), y = activated(x, activation);
            y.sum().backward();
            const at::Tensor y_TF = operations.bias_activation(x_TF, no_bias_F, activation);
            const at::Tensor dx_TF =
                operations.bias_activation_backward(at::ones_like(x_TF), x_TF, no_bias_F, activation, at::zeros({8001}));
            const auto largest_error = [](const at::Tensor& a, const at::Tensor& b, double relative) {
                return ((a.to(at::kDouble) - b).abs() - relative * b.abs()).max().item<double>();
            };
            CHECK(largest_error(y_TF, y.detach(), 2e-7) < 1e-6);
            CHECK(largest_error(dx_TF, x.grad(), 2e-7) < 2e-6);
        }
}

TEST_CASE("the three matmuls of a linear layer equal plain ones, and the weight gradient accumulates") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
        CAPTURE(compute_dtype);
        RandomTensors random(5);
        const at::Tensor x_TI = random.normal({75, 40}, compute_dtype), weight_OI = random.normal({101, 40}, compute_dtype);
        const at::Tensor dy_TO = random.normal({75, 101}, compute_dtype), before_OI = random.normal({101, 40});
        const at::Tensor x = leaf(x_TI), weight = leaf(weight_OI);
        const at::Tensor y = at::matmul(x, weight.t());
        (y * dy_TO.to(at::kDouble)).sum().backward();
        const at::Tensor d_weight_OI = before_OI.clone();
        add_linear_weight_gradient(dy_TO, x_TI, d_weight_OI);
        CHECK_ROUNDED(linear_matmul(x_TI, weight_OI), y.detach());
        CHECK_ROUNDED(linear_input_gradient(dy_TO, weight_OI), x.grad());
        const bool accumulates_in_fp32 =
            compute_dtype == at::kFloat ||
            cpu::library_instruction_set() < cpu::InstructionSet::avx512_bf16;  // operands are widened
        const double bound = accumulates_in_fp32 ? 3e-6 : 2.5e-3;
        CHECK(relative_error(d_weight_OI - before_OI, weight.grad()) < bound);
        if (compute_dtype == at::kFloat) continue;
        const at::Tensor narrow_OI = before_OI.to(at::kBFloat16), sum = narrow_OI.to(at::kDouble) + weight.grad();
        add_linear_weight_gradient(dy_TO, x_TI, narrow_OI);  // a bf16 sum is rounded once
        CHECK_ROUNDED(narrow_OI, sum);
    }
}
