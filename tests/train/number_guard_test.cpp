#include "train/step/number_guard.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

constexpr double nan_loss = std::numeric_limits<double>::quiet_NaN();

/// A training's losses: falling, with noise.
double ordinary_loss(std::int64_t step, std::mt19937& random) {
    return 2 + 8 * std::exp(-static_cast<double>(step) / 300) + std::normal_distribution<double>(0, 0.05)(random);
}

}  // namespace

TEST_CASE("skipped updates are counted, named, and end the run when too many come in a row") {
    NumberGuard guard(3, 10);
    CHECK_FALSE(guard.add(1, 5.0, 1.0, false));
    for (std::int64_t step = 2; step <= 3; ++step) {
        const auto trouble = guard.add(step, step == 2 ? nan_loss : 5.0, nan_loss, true);
        REQUIRE(trouble);
        CHECK(trouble->event == "skipped_update");
        CHECK(trouble->details.at("in_a_row") == step - 1);
        CHECK(trouble->details.at("loss").is_null() == (step == 2));
        CHECK(trouble->warning.find(step == 2 ? "the loss is not finite" : "the gradient is not finite") != std::string::npos);
        CHECK_NOTHROW(guard.require_progress(step, std::nullopt));
    }
    CHECK_FALSE(guard.add(4, 5.0, 1.0, false));
    CHECK(guard.counts().skipped == 2);
    CHECK(guard.counts().skipped_in_a_row == 0);
    for (std::int64_t step = 5; step <= 7; ++step) guard.add(step, nan_loss, nan_loss, true);
    CHECK_THROWS_AS(guard.require_progress(7, std::nullopt), NumbersError);
    CHECK_THROWS_WITH(guard.require_progress(7, std::nullopt),
                      Catch::Contains("start the same command again") && !Catch::Contains("--resume"));
    CHECK_THROWS_WITH(guard.require_progress(7, 3), Catch::Contains("--resume STEP (the newest is of step 3)"));
}

TEST_CASE("a run that goes on counts on, and 0 allows any number of skipped updates") {
    NumberGuard guard(10, 0), patient(0, 0);
    guard.restore({20, 9});
    guard.add(30, nan_loss, nan_loss, true);
    patient.restore({1000, 1000});
    patient.add(30, nan_loss, nan_loss, true);
    CHECK(guard.counts().skipped == 21);
    CHECK_THROWS_AS(guard.require_progress(30, std::nullopt), NumbersError);
    CHECK_NOTHROW(patient.require_progress(30, std::nullopt));
}

TEST_CASE("a loss that jumps is reported with the median before it; ordinary noise is not") {
    std::mt19937 random(7);
    NumberGuard guard(10, 10);
    for (std::int64_t step = 1; step <= 2000; ++step) {
        INFO("step " << step);
        const double loss = ordinary_loss(step, random);
        const bool jumps = step % 500 == 0;
        const auto trouble = guard.add(step, jumps ? loss + 3 : loss, 1.0, false);
        REQUIRE(trouble.has_value() == jumps);
        if (!jumps) continue;
        CHECK(trouble->event == "loss_spike");
        CHECK(trouble->details.at("deviations").get<double>() > 10);
        CHECK(std::abs(trouble->details.at("median").get<double>() - loss) < 0.5);
        CHECK_FALSE(trouble->warning.empty());
    }
}

TEST_CASE("a spike of several steps is an event each, but said once") {
    NumberGuard guard(10, 10);
    for (std::int64_t step = 1; step <= 100; ++step) guard.add(step, 2.0, 1.0, false);
    CHECK_FALSE(guard.add(101, 9.0, 1.0, false)->warning.empty());
    CHECK(guard.add(102, 9.0, 1.0, false)->warning.empty());
    CHECK_FALSE(guard.add(103, 2.0, 1.0, false));
    CHECK_FALSE(guard.add(104, 9.0, 1.0, false)->warning.empty());
}

TEST_CASE("the first losses, and any where spikes are not asked for, are no spikes") {
    NumberGuard guard(10, 10), blind(10, 0);
    for (std::int64_t step = 1; step <= 32; ++step) CHECK_FALSE(guard.add(step, step == 20 ? 100.0 : 2.0, 1.0, false));
    for (std::int64_t step = 1; step <= 100; ++step) CHECK_FALSE(blind.add(step, step == 90 ? 100.0 : 2.0, 1.0, false));
}
