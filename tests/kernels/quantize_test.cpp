// fp8 operands and their matmuls on the CPU, against plain loops.
#include <cmath>

#include "kernels/fp8_matmul.h"
#include "kernels/kernel_inputs.h"
#include "kernels/plain_matmul.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// All finite numbers of an fp8 type that are not negative, in order, by the type's definition.
std::vector<double> numbers_of(at::ScalarType type) {
    const bool is_e4m3 = type == at::kFloat8_e4m3fn;
    const int fraction = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15, last = is_e4m3 ? 0x7E : 0x7B;
    std::vector<double> numbers;
    for (int bits = 0; bits <= last; ++bits) {
        const int exponent = bits >> fraction, tail = bits & ((1 << fraction) - 1);
        numbers.push_back(exponent == 0 ? std::ldexp(tail, 1 - bias - fraction)
                                        : std::ldexp((1 << fraction) + tail, exponent - bias - fraction));
    }
    return numbers;
}

/// The nearest of them, of two the one with the even fraction.
double nearest(const std::vector<double>& numbers, double x) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        const double better = std::abs(numbers[i] - x) - std::abs(numbers[best] - x);
        if (better < 0 || (better == 0 && i % 2 == 0)) best = i;
    }
    return numbers[best];
}

Quantizer quantizer(at::ScalarType type, float scale) { return {type, at::full({}, scale), at::zeros({})}; }

Fp8Operand operand_of(const at::Tensor& x_TC, at::ScalarType type, float scale) {
    Fp8Operand operand = reference::quantize({x_TC}, quantizer(type, scale));
    operand.inverse_scale_1 = at::full({}, 1 / scale);
    return operand;
}

at::Tensor values_of(const Fp8Operand& operand) { return operand.rows_TC.to(at::kDouble) * operand.inverse_scale_1; }

}  // namespace

TEST_CASE("elements become the nearest fp8 number, at most the largest, and the largest magnitude is known") {
    for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
        const std::vector<double> numbers = numbers_of(type);
        std::vector<float> values;
        for (std::size_t i = 0; i + 1 < numbers.size(); ++i)  // numbers, and points in the middle between two
            for (const double x : {numbers[i], (numbers[i] + numbers[i + 1]) / 2, 0.6 * numbers[i] + 0.4 * numbers[i + 1]})
                for (const double signed_x : {x, -x}) values.push_back(static_cast<float>(signed_x));
        const at::Tensor x_TC = at::tensor(values).to(at::kBFloat16).view({-1, 2});
        const Quantizer by = quantizer(type, 4);
        const Fp8Operand operand = reference::quantize({x_TC / 4}, by);
        const at::Tensor found = operand.rows_TC.to(at::kDouble).view({-1}), given = x_TC.to(at::kDouble).view({-1});
        for (std::int64_t i = 0; i < given.numel(); ++i) {
            const double x = given[i].item<double>();
            CAPTURE(type, x);
            REQUIRE(found[i].item<double>() == std::copysign(nearest(numbers, std::abs(x)), x));
        }
        CHECK(operand.columns_CT.to(at::kFloat).equal(operand.rows_TC.to(at::kFloat).t()));
        CHECK(by.largest_1.item<double>() == given.abs().max().item<double>() / 4);
        const at::Tensor beyond_TC = at::tensor({1e30F, -1e30F, INFINITY, NAN}).to(at::kBFloat16).view({2, 2});
        const at::Tensor limited = reference::quantize({beyond_TC}, by).rows_TC.to(at::kFloat).view({-1});
        CHECK(limited[0].item<double>() == numbers.back());
        CHECK(limited[1].item<double>() == -numbers.back());
        CHECK(limited[2].item<double>() == numbers.back());
        CHECK(std::isnan(limited[3].item<float>()));
        CHECK(std::isnan(by.largest_1.item<float>()));
    }
}

TEST_CASE("matmuls of fp8 operands are those of the operands' exact values, rounded to bf16") {
    RandomTensors random(5);
    const std::int64_t T = 48, I = 32, O = 80;
    const Fp8Operand x = operand_of(random.normal({T, I}, at::kBFloat16), at::kFloat8_e4m3fn, 32),
                     weight = operand_of(random.normal({O, I}, at::kBFloat16) * 0.02, at::kFloat8_e4m3fn, 1024),
                     dy = operand_of(random.normal({T, O}, at::kBFloat16) * 1e-6, at::kFloat8_e5m2, 1 << 28);
    CHECK(relative_error(values_of(x), random.normal({T, I})) > 0.5);  // the operands are what is compared below
    const at::Tensor y = fp8_linear_matmul(x, weight), dx = fp8_linear_input_gradient(dy, weight);
    CHECK(y.scalar_type() == at::kBFloat16);
    CHECK_ROUNDED(y, at::mm(values_of(x), values_of(weight).t()));
    CHECK_ROUNDED(dx, at::mm(values_of(dy), values_of(weight)));
    const at::Tensor right_OI = at::mm(values_of(dy).t(), values_of(x)), before_OI = random.normal({O, I}) * 1e-6;
    const at::Tensor fresh_OI = at::full({O, I}, NAN), sum_OI = before_OI.clone(), narrow_OI = before_OI.to(at::kBFloat16);
    add_fp8_linear_weight_gradient(dy, x, fresh_OI, false);
    add_fp8_linear_weight_gradient(dy, x, sum_OI);
    add_fp8_linear_weight_gradient(dy, x, narrow_OI);
    CHECK(relative_error(fresh_OI, right_OI) < 3e-3);  // a library may round the product to bf16
    CHECK(relative_error(sum_OI, before_OI + right_OI) < 3e-3);
    CHECK(relative_error(narrow_OI, before_OI + right_OI) < 6e-3);
    const Fp8Factor a{x.rows_TC, x.inverse_scale_1}, b{weight.rows_TC, weight.inverse_scale_1};
    CHECK_ROUNDED(reference_matmul().fp8_gemm(a, b, at::kFloat, false), at::mm(values_of(x), values_of(weight).t()));
}

TEST_CASE("a CPU multiplies in fp8 as far as the start asks it to") { CHECK_NOTHROW(require_fp8_matmul(at::kCPU)); }
