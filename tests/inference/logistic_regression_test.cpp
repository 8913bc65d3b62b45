#include "inference/logistic_regression.h"

#include <cmath>
#include <vector>

#include <ATen/ATen.h>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

struct Points {
    at::Tensor inputs_ND, classes_N;
};

/// Three overlapping clouds in four columns, of unequal sizes.
Points clouds() {
    RandomSequence random(3, Purpose::sample_order, 0);
    constexpr std::int64_t rows = 90, columns = 4;
    Points points{at::empty({rows, columns}, at::kDouble), at::empty({rows}, at::kLong)};
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t cloud = i < 45 ? 0 : i < 75 ? 1 : 2;
        points.classes_N[i] = cloud;
        for (std::int64_t d = 0; d < columns; ++d) points.inputs_ND[i][d] = random.uniform() * 3 + (cloud == d ? 1.5 : 0) - 1;
    }
    return points;
}

/// The loss, written out per row in plain loops.
double plain_loss(const Points& points, double strength, const at::Tensor& weights_KD1) {
    const auto x = points.inputs_ND.accessor<double, 2>(), w = weights_KD1.accessor<double, 2>();
    const auto y = points.classes_N.accessor<std::int64_t, 1>();
    const std::int64_t rows = x.size(0), columns = x.size(1), classes = w.size(0);
    double loss = 0, squares = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        double sum = 0, right = 0;
        for (std::int64_t k = 0; k < classes; ++k) {
            double z = w[k][columns];
            for (std::int64_t d = 0; d < columns; ++d) z += w[k][d] * x[i][d];
            sum += std::exp(z);
            if (k == y[i]) right = z;
        }
        loss += std::log(sum) - right;
    }
    for (std::int64_t k = 0; k < classes; ++k)
        for (std::int64_t d = 0; d < columns; ++d) squares += w[k][d] * w[k][d];
    return (loss + squares / (2 * strength)) / static_cast<double>(rows);
}

at::Tensor zeros() { return at::zeros({3, 5}, at::kDouble); }

}  // namespace

TEST_CASE("logistic regression reaches the minimum of its loss, from which no step in any direction leads down") {
    const Points points = clouds();
    for (const double strength : {1e-3, 0.1, 10.0}) {
        CAPTURE(strength);
        const at::Tensor found = fit_logistic_regression(points.inputs_ND, points.classes_N, strength, zeros(), 1e-5);
        const double least = plain_loss(points, strength, found);
        CHECK(least < plain_loss(points, strength, zeros()));
        CHECK(log_loss(points.inputs_ND, points.classes_N, found) == Approx(90 * plain_loss(points, 1e30, found)));
        for (std::int64_t i = 0; i < found.numel(); ++i)
            for (const double step : {-1e-2, 1e-2}) {
                at::Tensor beside = found.clone();
                beside.view(-1)[i] += step;
                CHECK(plain_loss(points, strength, beside) > least);
            }
    }
}

TEST_CASE("the minimum does not depend on where the search begins") {
    const Points points = clouds();
    const at::Tensor once = fit_logistic_regression(points.inputs_ND, points.classes_N, 0.1, zeros(), 1e-5);
    const at::Tensor again = fit_logistic_regression(points.inputs_ND, points.classes_N, 0.1, zeros() + 0.5, 1e-5);
    // The loss does not change when all classes get the same bias, so only differences of biases are determined.
    CHECK((once - again).narrow(1, 0, 4).abs().max().item<double>() < 1e-2);
    CHECK((predicted_classes(points.inputs_ND, once) == predicted_classes(points.inputs_ND, again)).all().item<bool>());
}

TEST_CASE("with two classes, the difference of their weights is the minimum of the binary regression with the same strength") {
    Points points = clouds();
    points.classes_N.clamp_(0, 1);
    const double strength = 0.1;
    const at::Tensor found =
        fit_logistic_regression(points.inputs_ND, points.classes_N, strength, at::zeros({2, 5}, at::kDouble), 1e-8);
    const at::Tensor w = found[1] - found[0];
    const at::Tensor logits = at::mv(points.inputs_ND, w.narrow(0, 0, 4)) + w[4];
    // The gradient of the sum over rows of ln(1 + exp(-z)) or ln(1 + exp(z)), plus |w|^2 / (2 strength).
    const at::Tensor slopes = logits.sigmoid() - points.classes_N.to(at::kDouble);
    const at::Tensor gradient = at::mv(points.inputs_ND.t(), slopes) + w.narrow(0, 0, 4) / strength;
    CHECK(gradient.abs().max().item<double>() < 1e-5);
    CHECK(std::abs(slopes.sum().item<double>()) < 1e-5);
}

TEST_CASE("classes that a plane separates are all predicted correctly, and the search ends") {
    const at::Tensor inputs = at::tensor({-2.0, -1.0, 1.0, 2.0}).unsqueeze(1), classes = at::tensor({0, 0, 1, 1}, at::kLong);
    const at::Tensor weights = fit_logistic_regression(inputs, classes, 1e6, at::zeros({2, 2}, at::kDouble), 1e-5);
    CHECK((predicted_classes(inputs, weights) == classes).all().item<bool>());
}
