// PyTorch's own AdamW as the oracle.
#include <cmath>
#include <sstream>

#include <ATen/ops/empty.h>

#include "optimizer/sharded_optimizer.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain;

namespace {

constexpr int elements = 1000;

const char* script = R"(
import math, torch
w = torch.nn.Parameter(torch.tensor([0.1 * math.sin(i) for i in range(1000)]))
optimizer = torch.optim.AdamW([w], lr=0.01, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.1)
for t in range(1, 6):
    w.grad = torch.tensor([math.cos(i * t) for i in range(1000)])
    optimizer.step()
print(*w.tolist())
)";

}  // namespace

TEST_CASE("five steps of AdamW are PyTorch's", "[system]") {
    const testing::CommandResult python = testing::run_command(std::string(WARM_PYTHON) + " -c '" + script + "'");
    if (python.exit_code != 0) SKIP_TEST(testing::skip::no_oracle, "no Python with torch: " + python.err);
    const ParameterLayout layout({{"w", {elements}, true}}, 1, 1);
    ShardedOptimizer optimizer({OptimizerName::adamw, 0.01, {0.9, 0.98}, 1e-6, 0.1, 0}, layout, 0);
    at::Tensor gradient = at::empty({layout.slice_elements()}), working = at::empty({layout.slice_elements()});
    for (int i = 0; i < elements; ++i)
        optimizer.state().master.mutable_data_ptr<float>()[i] = static_cast<float>(0.1 * std::sin(i));
    NoExchange exchange;
    for (int t = 1; t <= 5; ++t) {
        for (int i = 0; i < elements; ++i) gradient.mutable_data_ptr<float>()[i] = static_cast<float>(std::cos(i * t));
        optimizer.update(gradient, working, 0.01, t, exchange);
    }
    std::istringstream theirs(python.out);
    for (int i = 0; i < elements; ++i) {
        double expected = NAN;
        theirs >> expected;
        // Weights of up to 0.1 are rounded by at most 3.7e-9 in each of five steps, here and there.
        REQUIRE(static_cast<double>(working.const_data_ptr<float>()[i]) == Approx(expected).epsilon(1e-6).margin(4e-8));
    }
}
