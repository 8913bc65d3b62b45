#include "optimizer/schedule.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

ScheduleConfig schedule(const std::string& name, double warmup, double constant, std::int64_t steps) {
    return {.name = choice_named<ScheduleName>(name),
            .warmup_ratio = warmup,
            .constant_ratio = constant,
            .degree = 0.5,
            .total_steps = steps,
            .stop_at = {}};
}

ScheduleConfig read(const char* json) { return read_config<ScheduleConfig>(nlohmann::json::parse(json), "schedule"); }

}  // namespace

TEST_CASE("the first learning rates are those of the public run log") {
    // BERT-Large and 1.5B on DL1 instances; steps there are printed with five and four digits.
    const double large = learning_rate_at(schedule("warmup_polynomial_jump", 0.2843, 0, 7038), 0.006, 1);
    CHECK(std::abs(large - 2.9986e-6) < 0.5e-10);
    const double billions = learning_rate_at(schedule("warmup_constant_linear", 0.05, 0.25, 155000), 0.0015, 1);
    CHECK(std::abs(billions - 1.935e-7) < 0.5e-10);
}

TEST_CASE("the jump falls from the peak to peak * (1 - warmup_ratio)^degree, and ends at 0") {
    const ScheduleConfig jump = schedule("warmup_polynomial_jump", 0.25, 0, 100);
    CHECK(learning_rate_at(jump, 1, 24) == Approx(0.96));
    CHECK(learning_rate_at(jump, 1, 25) == Approx(std::sqrt(0.75)));
    CHECK(learning_rate_at(jump, 1, 99) == Approx(0.1));
    CHECK(learning_rate_at(jump, 1, 100) == 0);
    CHECK(learning_rate_at(jump, 1, 101) == 0);
    ScheduleConfig square = jump;
    square.degree = 2;
    CHECK(learning_rate_at(square, 1, 60) == Approx(0.16));
}

TEST_CASE("the constant part stays at the peak, and the linear part begins without a jump") {
    const ScheduleConfig config = schedule("warmup_constant_linear", 0.125, 0.25, 80);
    CHECK(learning_rate_at(config, 2, 9) == Approx(1.8));
    CHECK(learning_rate_at(config, 2, 10) == 2);
    CHECK(learning_rate_at(config, 2, 29) == 2);
    CHECK(learning_rate_at(config, 2, 30) == Approx(2));
    CHECK(learning_rate_at(config, 2, 55) == Approx(1));
    CHECK(learning_rate_at(config, 2, 80) == 0);
}

TEST_CASE("the linear schedule rises and falls linearly") {
    const ScheduleConfig config = schedule("warmup_linear", 0.1, 0, 100);
    for (std::int64_t step = 1; step <= 110; ++step) {
        const auto k = static_cast<double>(step);
        CHECK(learning_rate_at(config, 3e-4, step) == Approx(3e-4 * std::max(0.0, std::min(k / 10, (100 - k) / 90))));
    }
}

TEST_CASE("constant stays at the peak after its warm-up, also after total_steps") {
    const ScheduleConfig config = schedule("constant", 0.1, 0, 100);
    CHECK(learning_rate_at(config, 5, 5) == Approx(2.5));
    CHECK(learning_rate_at(config, 5, 10) == 5);
    CHECK(learning_rate_at(config, 5, 1000) == 5);
    CHECK(learning_rate_at(schedule("constant", 0, 0, 100), 5, 1) == 5);
}

TEST_CASE("all schedule settings are described, and invalid values are refused") {
    CHECK(fully_described<ScheduleConfig>());
    CHECK(read(R"({"name": "warmup_linear", "total_steps": 7})").total_steps == 7);
    CHECK_THROWS_AS(read(R"({"name": "cosine", "total_steps": 7})"), ConfigError);
    CHECK(read(R"({"name": "constant"})").total_steps == 1'000'000);
    CHECK_THROWS_AS(read(R"({"warmup_ratio": 1.5, "total_steps": 7})"), ConfigError);
}

TEST_CASE("settings that the named schedule does not use are refused") {
    CHECK_NOTHROW(check_schedule(schedule("warmup_constant_linear", 0.05, 0.25, 10)));
    CHECK_THROWS_AS(check_schedule(schedule("warmup_linear", 0.05, 0.25, 10)), ConfigError);
    CHECK_THROWS_AS(check_schedule(schedule("warmup_constant_linear", 0.5, 0.5, 10)), ConfigError);
    ScheduleConfig degree = schedule("warmup_linear", 0.05, 0, 10);
    degree.degree = 1;
    CHECK_THROWS_AS(check_schedule(degree), ConfigError);
}
