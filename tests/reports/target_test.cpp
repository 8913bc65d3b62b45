#include "reports/target.h"

#include "core/error.h"
#include "core/strings.h"
#include "reports/report_page.h"
#include "reports/sample_run.h"
#include "reports/scaling.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("a target is first reached at an evaluation, and everything spent until then counts") {
    const TemporaryFolder folder;
    write_run(folder / "slow", 2, 10);
    write_run(folder / "fast", 4, 10, 5.5, {5, 0, 0, 0});
    write_run(folder / "short", 2, 4);
    const Target target = Target::parse("held_out_mlm_loss=4.35");
    const auto runs = read_runs({(folder / "slow").string(), (folder / "fast").string(), (folder / "short").string()});
    const auto reached = first_reached(runs[0], target);
    REQUIRE(reached.has_value());
    CHECK(reached->step == 10);
    CHECK(reached->samples == 80);
    CHECK(reached->spent.seconds == Approx(12 + 9 * 11 + 1));
    CHECK_FALSE(first_reached(runs[2], target).has_value());

    const auto rows = target_rows(runs, target, HourlyPrices::parse({"36"}));
    REQUIRE(rows.size() == 4);
    CHECK(rows[1][4] == "0.0622");  // 112 s x 2
    CHECK(rows[1][6] == "2.2400 USD");
    CHECK(rows[2][6] == "2.5000 USD");  // (12 + 9 x 5.5 + 1) s x 4
    CHECK(rows[2][7] == "1.116");
    CHECK(rows[2][8] == "1.116");
    CHECK(rows[3][1] == "not measured");  // its first evaluation would be after step 5
}

TEST_CASE("each run may have its own price, and costs are compared in one currency only") {
    const TemporaryFolder folder;
    write_run(folder / "slow", 2, 10);
    write_run(folder / "fast", 4, 10);
    const auto runs = read_runs({(folder / "slow").string(), (folder / "fast").string()});
    const Target target = Target::parse("held_out_mlm_accuracy=0.1");
    const auto rows = [&](const std::vector<std::string>& texts) {
        return target_rows(runs, target, HourlyPrices::parse(texts));
    };
    const double hours_slow = std::stod(rows({})[1][4]), hours_fast = std::stod(rows({})[2][4]);
    CHECK(rows({})[1][6] == "-");
    const auto own = rows({"1", "fast=3"});
    CHECK(std::stod(own[2][8]) == Approx(3 * hours_fast / hours_slow).epsilon(0.01));
    const auto mixed = rows({(folder / "slow/").string() + "=1EUR", "fast=3"});
    CHECK(mixed[1][6].ends_with(" EUR"));
    CHECK(mixed[2][6].ends_with(" USD"));
    CHECK(mixed[2][8] == "-");
    const auto whole = summary_rows(runs, HourlyPrices::parse({"fast=3600EUR"}));  // a EUR per second
    CHECK(whole[0].back() == "cost");
    CHECK(whole[1].back() == "-");
    CHECK(whole[2].back() == cost_text(Money{spent_until(runs[1], INFINITY).accelerator_seconds, "EUR"}));
    CHECK_THROWS_WITH(HourlyPrices::parse({"quick=3"}).require_runs(runs),
                      Catch::Matchers::Contains("--price quick=...: no such run; the runs are: slow, fast"));
    for (const char* text : {"", "x", "slow=", "-1", "0", "2 EUR", "inf", "nan"}) {
        INFO(text);
        CHECK_THROWS_WITH(HourlyPrices::parse({text}), Catch::Matchers::Contains("--price"));
    }
}

TEST_CASE("restarts and the steps they repeated count towards a target") {
    const TemporaryFolder folder;
    write_resumed_run(folder / "run");
    const auto reached = first_reached(read_run(folder / "run"), Target::parse("mlm_loss=3.95"));
    REQUIRE(reached.has_value());
    CHECK(reached->step == 12);
    CHECK(reached->spent.seconds == Approx(135 + 12));
    CHECK(reached->spent.accelerator_seconds == Approx(2 * 135 + 4 * 12));
    CHECK(reached->spent.restarts == 1);
}

TEST_CASE("accuracy is reached from below, and an unknown target is refused with the list of targets") {
    const TemporaryFolder folder;
    write_run(folder / "run", 1, 10);
    CHECK(first_reached(read_run(folder / "run"), Target::parse("held_out_mlm_accuracy=0.1"))->step == 10);
    CHECK_THROWS_WITH(Target::parse("grad_norm=1"), Catch::Matchers::Contains("held_out_mlm_loss"));
    for (const char* text : {"mlm_loss", "mlm_loss=", "mlm_loss=3x", "=3", ""}) CHECK_THROWS_AS(Target::parse(text), ConfigError);
}

TEST_CASE("a target that its measure cannot have is refused with the unit, and a key that a run lacks is not measured") {
    for (const char* text : {"probe_accuracy=66", "held_out_mlm_accuracy=-0.1", "probe_macro_f1=nan", "mlm_loss=-1",
                             "mlm_loss=inf", "held_out_perplexity=0.5"})
        CHECK_THROWS_AS(Target::parse(text), ConfigError);
    CHECK_THROWS_WITH(Target::parse("probe_accuracy=66"),
                      Catch::Contains("a share, from 0 to 1") && Catch::Contains("--target probe_accuracy=0.66"));
    const TemporaryFolder folder;
    write_run(folder / "run", 1, 10);
    const std::vector<RunHistory> runs{read_run(folder / "run")};
    CHECK(target_rows(runs, Target::parse("probe_accuracy=0.5"), {})[1][1] == "not measured");
    CHECK(target_rows(runs, Target::parse("mlm_loss=0.5"), {})[1][1] == "not reached");
}

TEST_CASE("the time of an epoch is drawn with the ideal line where all runs record the length of their epochs") {
    const std::vector<ScalingPoint> points{{"one", 1, 100, 1, 7200}, {"four", 4, 320, 0.8, 2250}};
    CHECK(scaling_rows(points)[2][4] == duration_text(2250));
    const NamedChart epochs = scaling_charts(points).at(2);
    CHECK(epochs.name == "epoch_time");
    CHECK(epochs.chart.lines[0].points == std::vector<std::pair<double, double>>{{1, 2}, {4, 0.5}});  // ideal, in hours
    CHECK(epochs.chart.lines[1].points == std::vector<std::pair<double, double>>{{1, 2}, {4, 0.625}});
}

TEST_CASE("efficiency is the rate per accelerator relative to that of the smallest run") {
    const TemporaryFolder folder;
    write_run(folder / "four", 4, 10, 11, {2.5, 0, 0, 0});
    write_run(folder / "one", 1, 10, 11, {8, 0, 0, 0});
    write_run(folder / "two", 2, 10, 11, {4.4, 0, 0, 0});
    const auto points =
        scaling_points(read_runs({(folder / "four").string(), (folder / "one").string(), (folder / "two").string()}));
    const auto rows = scaling_rows(points);
    CHECK(rows[1] == std::vector<std::string>{"1", "1.00", "1.00", "100.00 %", "32.0s", "one"});
    CHECK(rows[2] == std::vector<std::string>{"2", "1.82", "0.91", "90.91 %", "17.6s", "two"});
    CHECK(rows[3] == std::vector<std::string>{"4", "3.20", "0.80", "80.00 %", "10.0s", "four"});
    const std::vector<NamedChart> charts = scaling_charts(points);
    REQUIRE(charts.size() == 3);
    CHECK(charts[0].chart.lines[0].points.back() == std::pair(4.0, 4.0));
    CHECK(charts[1].chart.lines[0].points.back().second == Approx(80));
}
