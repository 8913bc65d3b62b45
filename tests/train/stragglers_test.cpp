#include "train/step/stragglers.h"

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("the slowest rank is named with its phase, once in so many steps") {
    Stragglers stragglers(3);
    const std::vector<RankTimes> ranks = {{0.01, 1.0}, {0.02, 1.1}, {0.5, 1.0}, {0.0, 1.0}};
    CHECK_FALSE(stragglers.add(ranks));
    CHECK_FALSE(stragglers.add(ranks));
    const auto report = stragglers.add(ranks);
    REQUIRE(report);
    CHECK(report->find("rank 2 is slowest") != std::string::npos);
    CHECK(report->find("1.0000 s computing + 0.5000 s data") != std::string::npos);
    CHECK(report->find("median of ranks 1.0650 s") != std::string::npos);
    CHECK_FALSE(stragglers.add(ranks));
}

TEST_CASE("what weighs more in the slowest rank is said") {
    Stragglers stragglers(1);
    CHECK(stragglers.add({{2.0, 1.0}, {0.0, 1.0}})->find("waiting for data") != std::string::npos);
    CHECK(stragglers.add({{0.0, 1.5}, {0.0, 1.0}})->find("mostly in computing") != std::string::npos);
}

TEST_CASE("a world of one has no stragglers, and 0 steps ask for no report") {
    CHECK_FALSE(Stragglers(1).add({{0, 1}}));
    CHECK_FALSE(Stragglers(0).add({{0, 1}, {0, 2}}));
}
