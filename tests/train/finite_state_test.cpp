#include "train/save/finite_state.h"

#include <limits>

#include "checkpoint/example_state.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("a state with one number that is not finite, anywhere, is found") {
    ExampleState example = example_state(1);
    CHECK(is_finite(example.state));
    CHECK(is_finite(TrainingState()));
    for (std::vector<float>& values : example.memory)
        for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity()})
            for (const std::size_t at : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
                const float before = std::exchange(values[at], bad);
                CHECK_FALSE(is_finite(example.state));
                values[at] = before;
            }
    for (const float edge : {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}) {
        example.memory.back().back() = edge;
        CHECK(is_finite(example.state));
    }
}
