#include "reports/run_comparison.h"

#include <cmath>

#include "core/error.h"
#include "reports/sample_run.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

RunHistory history(const std::string& name, const std::vector<EvaluationRecord>& evaluations,
                   const std::vector<StepRecord>& steps = {}) {
    RunHistory run;
    run.name = name;
    run.metrics = {steps, evaluations};
    return run;
}

}  // namespace

TEST_CASE("runs are compared at the steps that both evaluated, and the largest relative difference decides") {
    const RunHistory a = history("a", {{.step = 0, .mlm_loss = 9}, {.step = 5, .mlm_loss = 4}, {.step = 10, .mlm_loss = 2}}),
                     b = history("b",
                                 {{.step = 5, .mlm_loss = 4.002}, {.step = 7, .mlm_loss = 3}, {.step = 10, .mlm_loss = 1.998}});
    const RunComparison comparison = compare_runs(a, b);
    REQUIRE(comparison.held_out.size() == 2);
    CHECK(comparison.held_out[0].relative_difference() == Approx(0.0005));
    CHECK(comparison.worst_held_out().step == 10);
    CHECK(comparison.worst_held_out().relative_difference() == Approx(0.001));
    CHECK(comparison.alike(0.0011));
    CHECK_FALSE(comparison.alike(0.0009));
    CHECK(percent_text(6.19407e-10) == "6.19e-08 %");
    CHECK(comparison_rows(comparison)[1] == std::vector<std::string>{"5", "4.000000", "4.002000", "0.05 %"});
}

TEST_CASE("training losses that are the same numbers are counted, and the last record of a repeated step counts") {
    const RunHistory a = history("a", {{.step = 2, .mlm_loss = 4}}, {{.step = 1, .mlm_loss = 5}, {.step = 2, .mlm_loss = 4}}),
                     b = history("b", {{.step = 2, .mlm_loss = 4}},
                                 {{.step = 1, .mlm_loss = 9}, {.step = 1, .mlm_loss = 5}, {.step = 2, .mlm_loss = 4.4}});
    const RunComparison comparison = compare_runs(a, b);
    CHECK(comparison.training.size() == 2);
    CHECK(comparison.equal_training_steps() == 1);
    CHECK(comparison.worst_training()->step == 2);
    CHECK(comparison.worst_training()->relative_difference() == Approx(0.1));
    CHECK(comparison.alike(0));
}

TEST_CASE("a loss that is not finite differs from every loss, its like included") {
    for (const double other : {2.0, std::nan("")}) {
        const RunComparison comparison =
            compare_runs(history("a", {{.step = 5, .mlm_loss = NAN}}), history("b", {{.step = 5, .mlm_loss = other}}));
        CHECK_FALSE(comparison.alike(1));
        CHECK(svg_text(comparison_chart(comparison, 0.001)).find("<svg") != std::string::npos);
    }
}

TEST_CASE("runs without a common evaluation are refused, with the number of evaluations of each") {
    CHECK_THROWS_WITH(
        compare_runs(history("a", {{.step = 5}}), history("b", {{.step = 6}, {.step = 7}})),
        Catch::Matchers::Contains("a (1 evaluations) and b (2)") && Catch::Matchers::Contains("evaluation.every_steps"));
}
