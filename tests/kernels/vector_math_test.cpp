#include "kernels/cpu/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace bertpretrain::cpu;

namespace {

/// Returns the largest error(x) at a hundred thousand points from `first` to `last`.
template <class Error>
double largest(double first, double last, const Error& error) {
    constexpr int points = 100'000;
    double most = 0;
    for (int i = 0; i <= points; ++i) most = std::max(most, error(static_cast<float>(first + (last - first) * i / points)));
    return most;
}

constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("the vectorized exponential, normal distribution and tanh have their stated accuracy") {
    CHECK(largest(-87, 88, [](float x) { return std::abs(exponential(x) / std::exp(double{x}) - 1); }) < 1e-7);
    const auto distribution_error = [](float x) {
        return std::abs(normal(x).distribution - 0.5 * std::erfc(-x / std::sqrt(2.0)));
    };
    const auto density_error = [](float x) { return std::abs(normal(x).density - std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI)); };
    CHECK(largest(-7, 7, distribution_error) < 1e-7);
    CHECK(largest(-100, 100, distribution_error) < 1e-7);
    CHECK(largest(-7, 7, density_error) < 1e-7);
    CHECK(largest(-100, 100, [](float x) { return std::abs(hyperbolic_tangent(x) - std::tanh(double{x})); }) < 2e-7);
}

TEST_CASE("the vectorized functions handle infinities and keep NaN") {
    CHECK(exponential(0.0F) == 1.0F);
    CHECK(exponential(-infinity) == exponential(-87.0F));
    CHECK(normal(infinity).distribution == 1.0F);
    CHECK(std::abs(normal(-infinity).distribution) < 1e-7F);
    CHECK(hyperbolic_tangent(infinity) == 1.0F);
    CHECK(hyperbolic_tangent(-infinity) == -1.0F);
    CHECK(std::isnan(exponential(not_a_number)));
    CHECK(std::isnan(normal(not_a_number).distribution));
    CHECK(std::isnan(normal(not_a_number).density));
    CHECK(std::isnan(hyperbolic_tangent(not_a_number)));
}
