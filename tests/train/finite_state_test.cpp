#include "train/finite_state.h"

#include <limits>

#include <ATen/ATen.h>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("a state with one number that is not finite, anywhere, is found") {
    const auto ordinary = [] { return at::linspace(-3, 3, 100'003); };
    OptimizerState state{ordinary(), ordinary(), ordinary()};
    CHECK(is_finite(state));
    CHECK(is_finite(OptimizerState{at::empty({0}), at::empty({0}), at::empty({0})}));
    for (at::Tensor* values : {&state.master, &state.exp_avg, &state.exp_avg_sq})
        for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity()})
            for (const int at : {0, 50'000, 100'002}) {
                const at::Tensor before = (*values)[at].clone();
                (*values)[at] = bad;
                CHECK_FALSE(is_finite(state));
                (*values)[at] = before;
            }
    CHECK(is_finite(state));
}
