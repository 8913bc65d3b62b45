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
            .decay_ratio = 0.1,
            .decay_shape = DecayShape::one_minus_sqrt,
            .final_ratio = 0,
            .total_steps = steps,
            .stop_at = {}};
}

ScheduleConfig read_schedule(const char* json) { return read_config<ScheduleConfig>(nlohmann::json::parse(json), "schedule"); }

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

TEST_CASE("wsd stays at the peak and falls in its last part by ModernBERT's 1 - sqrt, a line or a half cosine") {
    ScheduleConfig config = schedule("wsd", 0.1, 0, 1000);
    config.decay_ratio = 0.25;
    config.final_ratio = GENERATE(0.0, 0.001, 0.5);
    config.decay_shape = GENERATE(DecayShape::linear, DecayShape::one_minus_sqrt, DecayShape::cosine);
    CAPTURE(config.final_ratio, name_of(config.decay_shape));
    const double N = 1000, Nd = 250, a = config.final_ratio;
    for (std::int64_t step = 1; step <= 1100; ++step) {
        const double n = std::min(static_cast<double>(step), N), x = std::max(0.0, (n - (N - Nd)) / Nd);
        double f = n < 100 ? n / 100 : 1;
        if (n > 750 && config.decay_shape == DecayShape::linear) f = a + (1 - a) * (1 - x);
        if (n > 750 && config.decay_shape == DecayShape::one_minus_sqrt) f = a + (1 - a) * (1 - std::sqrt(x));
        if (n > 750 && config.decay_shape == DecayShape::cosine) f = a + (1 - a) * 0.5 * (1 + std::cos(std::acos(-1.0) * x));
        CHECK(learning_rate_at(config, 8e-4, step) == Approx(8e-4 * f).epsilon(1e-12).margin(1e-18));
    }
}

TEST_CASE("a decay phase is wsd without a warm-up whose decay is the whole run, and ends at its final ratio exactly") {
    ScheduleConfig config = schedule("wsd", 0, 0, 400);
    config.decay_ratio = 1;
    config.final_ratio = 0.001;
    CHECK_NOTHROW(check_schedule(config));
    CHECK(learning_rate_at(config, 8e-4, 100) == Approx(8e-4 * (0.001 + 0.999 * 0.5)));
    CHECK(learning_rate_at(config, 8e-4, 400) == 8e-4 * 0.001);
}

TEST_CASE("the cosine falls from the peak after its warm-up to its final ratio") {
    ScheduleConfig config = schedule("warmup_cosine", 0.2, 0, 50);
    config.final_ratio = 0.1;
    for (std::int64_t step = 1; step <= 60; ++step) {
        const double k = std::min(50.0, static_cast<double>(step)), x = std::max(0.0, (k - 10) / 40);
        const double f = k < 10 ? k / 10 : 0.1 + 0.9 * 0.5 * (1 + std::cos(std::acos(-1.0) * x));
        CHECK(learning_rate_at(config, 1e-4, step) == Approx(1e-4 * f).epsilon(1e-12));
    }
}

TEST_CASE("all schedule settings are described, and invalid values are refused") {
    CHECK(fully_described<ScheduleConfig>());
    CHECK(read_schedule(R"({"name": "warmup_linear", "total_steps": 7})").total_steps == 7);
    CHECK_THROWS_AS(read_schedule(R"({"name": "triangle", "total_steps": 7})"), ConfigError);
    CHECK(read_schedule(R"({"name": "constant"})").total_steps == 1'000'000);
    CHECK_THROWS_AS(read_schedule(R"({"warmup_ratio": 1.5, "total_steps": 7})"), ConfigError);
}

TEST_CASE("settings that the named schedule does not use are refused") {
    CHECK_NOTHROW(check_schedule(schedule("warmup_constant_linear", 0.05, 0.25, 10)));
    CHECK_THROWS_AS(check_schedule(schedule("warmup_linear", 0.05, 0.25, 10)), ConfigError);
    CHECK_THROWS_AS(check_schedule(schedule("warmup_constant_linear", 0.5, 0.5, 10)), ConfigError);
    ScheduleConfig degree = schedule("warmup_linear", 0.05, 0, 10);
    degree.degree = 1;
    CHECK_THROWS_AS(check_schedule(degree), ConfigError);
    for (const std::string name : {"constant", "warmup_linear", "warmup_constant_linear", "warmup_polynomial_jump"}) {
        ScheduleConfig config = schedule(name, 0.05, 0, 10);
        config.final_ratio = 0.1;
        CHECK_THROWS_WITH(check_schedule(config), Catch::Contains("schedule.final_ratio = 0.1: schedule.name = \"" + name) &&
                                                      Catch::Contains("\"warmup_cosine\" or \"wsd\""));
    }
    for (const std::string name : {"constant", "warmup_cosine"}) {
        ScheduleConfig ratio = schedule(name, 0.05, 0, 10), shape = ratio;
        ratio.decay_ratio = 0.2;
        CHECK_THROWS_WITH(check_schedule(ratio), Catch::Contains("schedule.decay_ratio = 0.2"));
        shape.decay_shape = DecayShape::linear;
        CHECK_THROWS_WITH(check_schedule(shape), Catch::Contains("schedule.decay_shape = linear"));
    }
    CHECK_THROWS_WITH(check_schedule(schedule("wsd", 0.05, 0.5, 10)), Catch::Contains("schedule.constant_ratio = 0.5"));
    CHECK_THROWS_WITH(check_schedule(schedule("wsd", 0.95, 0, 10)), Catch::Contains("schedule.decay_ratio = 0.95 + 0.1"));
}
