#include "parallel/joint_gather.h"

#include <stdexcept>

#include "support/catch.h"
#include "support/counting_world.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("several all-gathers are one message, and each gets its own numbers in rank order") {
    run_ranks(3, [](World& threads) {
        CountingWorld world(threads);
        const auto rank = static_cast<double>(world.rank());
        std::vector<std::vector<double>> got;
        const auto keep = [&](const std::vector<double>& of_all) { got.push_back(of_all); };
        JointGather message;
        message.add({rank, 0.1}, keep);
        message.add({}, keep);
        message.add({-rank}, keep);
        message.run(world);
        if (got != std::vector<std::vector<double>>{{0, 0.1, 1, 0.1, 2, 0.1}, {}, {0, -1, -2}})
            throw std::runtime_error("wrong numbers");
        if (world.messages != 1) throw std::runtime_error("more than one message");
    });
}

TEST_CASE("a world of one gets its own numbers back") {
    SingleProcess alone;
    std::vector<double> got;
    JointGather message;
    message.add({3, 4}, [&](const std::vector<double>& of_all) { got = of_all; });
    message.run(alone);
    CHECK(got == std::vector<double>{3, 4});
}
