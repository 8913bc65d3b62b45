#include "train/stop/stop_target.h"

#include <limits>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("an evaluation at or below the target reaches it, and the first one that does is remembered") {
    StopTarget target(StopAtConfig{.held_out_mlm_loss = 3.2});
    target.add_step(1.0);  // the training loss is another one
    target.add_evaluation(3.3);
    CHECK_FALSE(target.reached());
    target.add_evaluation(3.2);
    target.add_evaluation(2.0);
    REQUIRE(target.reached());
    CHECK(target.reached()->key == "held_out_mlm_loss");
    CHECK(target.reached()->value == 3.2);
    CHECK_FALSE(target.state());
}

TEST_CASE("no loss reaches a target of 0, which means none") {
    StopTarget target(StopAtConfig{});
    for (int i = 0; i < 200; ++i) target.add_step(0);
    target.add_evaluation(0);
    CHECK_FALSE(target.reached());
}

TEST_CASE("the training loss is the mean of the first 100 steps, then a moving average; one low step does not reach the target") {
    StopTarget target(StopAtConfig{.mlm_loss = 5});
    double sum = 0;
    for (int step = 1; step <= 100; ++step) {
        const double loss = step % 2 == 0 ? 4 : 7;
        sum += loss;
        target.add_step(loss);
        CHECK_FALSE(target.reached());
    }
    CHECK(target.state()->value == Approx(sum / 100));
    int steps = 0;
    for (double average = sum / 100; average > 5; ++steps) {
        REQUIRE_FALSE(target.reached());
        average += (4.5 - average) / 100;
        target.add_step(4.5);
    }
    REQUIRE(target.reached());
    CHECK(target.reached()->key == "mlm_loss");
    CHECK(steps == 69);  // 4.5 + 0.99^69 <= 5
}

TEST_CASE("a loss that is not finite is not averaged, since its update is skipped") {
    StopTarget target(StopAtConfig{.mlm_loss = 1});
    target.add_step(3);
    target.add_step(std::numeric_limits<double>::quiet_NaN());
    target.add_step(std::numeric_limits<double>::infinity());
    CHECK(target.state()->value == 3);
    CHECK(target.state()->steps == 1);
}

TEST_CASE("a resumed run stops at the step at which it would have stopped") {
    const auto loss = [](int step) { return 6 - 0.02 * step; };
    StopTarget whole(StopAtConfig{.mlm_loss = 4});
    int stopped = 0;
    std::optional<SmoothedLoss> saved;
    while (!whole.reached()) {
        whole.add_step(loss(++stopped));
        if (stopped == 120) saved = whole.state();
    }
    REQUIRE(stopped > 120);
    StopTarget resumed(StopAtConfig{.mlm_loss = 4});
    resumed.restore(saved);
    int step = 120;
    while (!resumed.reached()) resumed.add_step(loss(++step));
    CHECK(step == stopped);
    StopTarget done(StopAtConfig{.mlm_loss = 4});
    done.restore(whole.state());
    CHECK(done.reached());
}
