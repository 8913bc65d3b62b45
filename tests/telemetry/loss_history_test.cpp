#include "telemetry/loss_history.h"

#include <limits>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

StepRecord loss_record(std::int64_t step, double loss) { return {.step = step, .mlm_loss = loss}; }

}  // namespace

TEST_CASE("the losses of a short run are kept exactly") {
    LossHistory history;
    for (std::int64_t step = 1; step <= 4096; ++step) history.add(loss_record(step, 1.0 / static_cast<double>(step)));
    const ChartPoints points = history.training();
    REQUIRE(points.size() == 4096);
    CHECK(history.steps_per_point() == 1);
    CHECK(points[99] == std::pair(100.0, 1.0 / 100));
}

TEST_CASE("the losses of a run of any length are at most 4096 means of equally many steps") {
    LossHistory history;
    for (std::int64_t step = 1; step <= 300'000; ++step) history.add(loss_record(step, static_cast<double>(step)));
    const ChartPoints points = history.training();
    CHECK(points.size() <= LossHistory::most_points);
    CHECK(points.size() > LossHistory::most_points / 2);
    CHECK(history.steps_per_point() == 128);
    CHECK(points[0] == std::pair(64.5, 64.5));
    CHECK(points[1000] == std::pair(128'064.5, 128'064.5));
    double steps = 0;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) steps += 128;
    CHECK(points.back().first == Approx((steps + 1 + 300'000) / 2));
}

TEST_CASE("a non-finite loss makes only the mean that includes it non-finite") {
    LossHistory history;
    for (std::int64_t step = 1; step <= 5000; ++step)
        history.add(loss_record(step, step == 777 ? std::numeric_limits<double>::quiet_NaN() : 1));
    const ChartPoints points = history.training();
    REQUIRE(history.steps_per_point() == 2);
    for (std::size_t i = 0; i < points.size(); ++i) CHECK(std::isnan(points[i].second) == (i == 388));
}

TEST_CASE(
    "evaluations are bounded too, and of two merged ones the later remains, with the training loss since the one before both") {
    LossHistory history;
    for (std::int64_t step = 1; step <= 4097; ++step) {
        history.add(loss_record(step, static_cast<double>(step)));
        history.add(EvaluationRecord{.step = step, .mlm_loss = 7});
    }
    const std::vector<EvaluatedLoss>& evaluations = history.evaluations();
    REQUIRE(evaluations.size() == 2049);
    CHECK(evaluations[0].evaluation.step == 2);
    CHECK(evaluations[0].training_loss_sum == 3);
    CHECK(evaluations[0].training_steps == 2);
    CHECK(evaluations.back().evaluation.step == 4097);
    CHECK(evaluations.back().training_steps == 1);
}
