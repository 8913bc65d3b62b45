#include "train/stop/spending.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using Catch::Matchers::Contains;

namespace {

RunLimits deadline(double seconds) {
    RunLimits limits;
    limits.seconds = seconds;
    return limits;
}

RunLimits budget(double amount, double price) {
    RunLimits limits;
    limits.budget = amount;
    limits.price_per_hour = price;
    return limits;
}

}  // namespace

TEST_CASE("limits are read from texts with units") {
    const RunLimits limits = RunLimits::parse("90m", "500.5EUR", 2.5);
    CHECK(limits.seconds == 5400);
    CHECK(limits.budget == 500.5);
    CHECK(limits.currency == "EUR");
    CHECK(RunLimits::parse("", "500", 1.0).currency == "USD");
    CHECK_FALSE(RunLimits::parse("", "", std::nullopt).any());
    CHECK(RunLimits::parse("", "", 3.0).any());
}

TEST_CASE("a limit that cannot be read, and a budget without a price, are refused by the option's name") {
    for (const char* text : {"20", "h", "-3h", "0h", "20hours", "nanh", "infh", "1e400h"}) {
        INFO(text);
        CHECK_THROWS_WITH(RunLimits::parse(text, "", std::nullopt), Contains("--deadline") && Contains("such as 20h"));
    }
    for (const char* text : {"USD", "0USD", "-5USD", "5 USD", "5$", "nan"}) {
        INFO(text);
        CHECK_THROWS_WITH(RunLimits::parse("", text, 1.0), Contains("--budget") && Contains("such as 500USD"));
    }
    CHECK_THROWS_WITH(RunLimits::parse("", "500USD", std::nullopt), Contains("add --price"));
}

TEST_CASE("a run stops while two more steps and a save still fit into its deadline") {
    Spending spending(deadline(100), Spent{}, 4, 5, 1000);
    CHECK_FALSE(spending.reason_to_stop(1000));
    for (double end = 1010; end <= 1070; end += 10) spending.step_done(end, 8);
    CHECK_FALSE(spending.reason_to_stop(1074.9));  // 25.1 s are left, and 2 x 10 + 5 s are needed
    REQUIRE(spending.reason_to_stop(1075));
    CHECK(spending.reason_to_stop(1075)->find("1m 15s") != std::string::npos);
    spending.saved(12);
    CHECK(spending.reason_to_stop(1070));
}

TEST_CASE("earlier starts count, each with its own number of ranks") {
    Spent before;
    before.seconds = 60;
    before.accelerator_seconds = 7200;
    CHECK(Spending(deadline(70), before, 1, 5, 0).reason_to_stop(6));
    CHECK_FALSE(Spending(deadline(70), before, 1, 5, 0).reason_to_stop(4));
    // 2 hours at 10 are 20. Two ranks at 10 per hour use up the other 1 in 180 s.
    CHECK_FALSE(Spending(budget(21, 10), before, 2, 5, 0).reason_to_stop(174));
    CHECK(Spending(budget(21, 10), before, 2, 5, 0).reason_to_stop(176));
}

TEST_CASE("the forecast is the time per step of this start, its evaluations and saves included") {
    Spending spending(budget(10, 3600), Spent{}, 2, 0, 0);  // two ranks cost 2 per second
    spending.step_done(1, 8);
    CHECK_FALSE(spending.forecast({1, 11, 80}, 1));
    spending.step_done(1.25, 8);
    spending.step_done(1.5, 8);
    const auto forecast = spending.forecast({3, 11, 64}, 2);  // half a second of evaluation: 0.5 s per step
    REQUIRE(forecast);
    CHECK(forecast->seconds == 2);
    CHECK(forecast->seconds_left == 4);
    CHECK(*forecast->cost == 4);
    CHECK(*forecast->cost_left == 8);
    CHECK(forecast->last_step == 9);  // 6 are left: 3 s
    CHECK(to_json(*forecast, spending.limits()).at("last_step_within_limits") == 9);
    CHECK(forecast_text(*forecast, spending.limits(), 11) ==
          "forecast: 2.0s and 4.00 USD used; the rest takes 4.0s and 8.00 USD; the limit is reached at about step 9 of 11");
}

TEST_CASE("a growing batch is forecast by its sequences, not by its steps") {
    Spending spending(deadline(100), Spent{}, 1, 0, 0);
    spending.step_done(1, 4);
    spending.step_done(2, 4);
    spending.step_done(4, 8);  // 4 sequences a second
    CHECK(spending.forecast({3, 5, 200}, 4)->seconds_left == 50);
}

TEST_CASE("what plan expects of the whole run stands beside what the run's own rate gives") {
    Spending spending(RunLimits::parse("", "", 1800.0), Spent{}, 2, 0, 0, 20);  // two ranks cost 1 per second
    spending.step_done(1, 8);
    spending.step_done(2, 8);
    const auto forecast = spending.forecast({2, 12, 80}, 2);
    REQUIRE(forecast);
    CHECK(forecast_text(*forecast, spending.limits(), 12) ==
          "forecast: 2.0s and 2.00 USD used; the rest takes 10.0s and 10.00 USD; the whole run takes 12.0s, and `plan` expects "
          "20.0s and 20.00 USD");
    const auto record = to_json(*forecast, spending.limits());
    CHECK(record.at("planned_run_seconds") == 20);
    CHECK(record.at("planned_cost") == 20);
}

TEST_CASE("a run with a price and no limit is forecast, and never stopped") {
    Spending spending(RunLimits::parse("", "", 3600.0), Spent{}, 1, 1, 0);
    spending.step_done(1, 8);
    spending.step_done(2, 8);
    CHECK_FALSE(spending.reason_to_stop(1e9));
    CHECK(forecast_text(*spending.forecast({2, 4, 16}, 2), spending.limits(), 4) ==
          "forecast: 2.0s and 2.00 USD used; the rest takes 2.0s and 2.00 USD");
}
