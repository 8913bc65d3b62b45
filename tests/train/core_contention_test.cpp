#include "train/start/core_contention.h"

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("threads that waited for cores for a tenth of 20 seconds give a warning, once per hour") {
    CoreContention contention(2);
    CHECK_FALSE(contention.add(100, 50));  // waiting before the first step does not count
    CHECK_FALSE(contention.add(110, 70));
    const auto warning = contention.add(120, 70);
    REQUIRE(warning);
    CHECK_THAT(*warning, Catch::Contains("2 of which compute, waited 20.0 s, added up, for a core in the last 20 s") &&
                             Catch::Contains("OMP_NUM_THREADS"));
    CHECK_FALSE(contention.add(200, 150));
    CHECK(contention.add(3800, 5000));
}

TEST_CASE("the time that all threads waited, the loader's included, is a sum, which can exceed the time that passed") {
    CoreContention contention(1);
    CHECK_FALSE(contention.add(100, 0));
    const auto warning = contention.add(120, 24);
    REQUIRE(warning);
    CHECK_THAT(*warning, Catch::Contains("1 of which computes, waited 24.0 s, added up, for a core in the last 20 s"));
}

TEST_CASE("threads that had their cores give no warning, nor does a kernel that does not report waiting") {
    CoreContention contention(4);
    for (int step = 0; step < 100; ++step) CHECK_FALSE(contention.add(10.0 * step, 2.0 * step));
    CoreContention unknown(4);
    for (int step = 0; step < 100; ++step) CHECK_FALSE(unknown.add(10.0 * step, std::nullopt));
}
