#include "train/audit/audit.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

StepRecord logged_step() {
    return {.step = 7,
            .samples = 56,
            .loss = 7.25,
            .mlm_loss = 6.5,
            .nsp_loss = 0.75,
            .mlm_accuracy = 0.125,
            .learning_rate = 1e-3,
            .grad_norm = 2.5};
}

/// The next float64 above.
double next_above(double value) { return std::nextafter(value, std::numeric_limits<double>::infinity()); }

/// The verdict on a step whose recomputed record differs by `change`.
AuditedStep judged(bool exact, void (*change)(StepRecord&)) {
    const StepRecord logged = logged_step();
    StepRecord computed = logged;
    change(computed);
    return compare_step(&logged, computed, exact, AuditBound());
}

}  // namespace

TEST_CASE("under the run's own conditions, one unit in the last place of any number is a difference") {
    CHECK(judged(true, [](StepRecord&) {}).verdict == AuditVerdict::equal);
    for (const auto change :
         {+[](StepRecord& step) { step.loss = next_above(step.loss); },
          +[](StepRecord& step) { step.mlm_loss = next_above(step.mlm_loss); }, +[](StepRecord& step) { step.nsp_loss = 0.751; },
          +[](StepRecord& step) { step.mlm_accuracy = next_above(step.mlm_accuracy); },
          +[](StepRecord& step) { step.grad_norm = next_above(step.grad_norm); },
          +[](StepRecord& step) { step.learning_rate = next_above(step.learning_rate); },
          +[](StepRecord& step) { step.samples = 57; }})
        CHECK(judged(true, change).verdict == AuditVerdict::different);
}

TEST_CASE(
    "under other conditions, losses and gradient norms may differ by the bound, but learning rates and samples not at all") {
    const auto verdict = [](void (*change)(StepRecord&)) { return judged(false, change).verdict; };
    CHECK(verdict([](StepRecord& step) { step.loss *= 1.0009; }) == AuditVerdict::within_bound);
    CHECK(verdict([](StepRecord& step) { step.loss *= 1.0011; }) == AuditVerdict::different);
    CHECK(verdict([](StepRecord& step) { step.grad_norm *= 1.009; }) == AuditVerdict::within_bound);
    CHECK(verdict([](StepRecord& step) { step.grad_norm *= 1.011; }) == AuditVerdict::different);
    CHECK(verdict([](StepRecord& step) { step.mlm_accuracy = 0.25; }) == AuditVerdict::equal);
    CHECK(verdict([](StepRecord& step) { step.learning_rate = next_above(step.learning_rate); }) == AuditVerdict::different);
    CHECK(verdict([](StepRecord& step) { step.samples = 57; }) == AuditVerdict::different);
    CHECK(verdict([](StepRecord& step) { step.loss = std::nan(""); }) == AuditVerdict::different);
}

TEST_CASE("a number that is not finite equals only itself, and a missing line is a difference") {
    StepRecord skipped = logged_step();
    skipped.grad_norm = std::nan("");
    CHECK(compare_step(&skipped, skipped, true, AuditBound()).verdict == AuditVerdict::equal);
    CHECK(compare_step(&skipped, logged_step(), false, AuditBound()).verdict == AuditVerdict::different);
    const AuditedStep missing = compare_step(nullptr, logged_step(), false, AuditBound());
    CHECK(missing.verdict == AuditVerdict::different);
    CHECK_THAT(missing.what, Catch::Contains("no line of this step"));
}

TEST_CASE("the first tensor that differs most severely is named") {
    const std::vector<TensorComparison> tensors{
        {"a", true, 0}, {"b", false, 0.001}, {"exp_avg of c", false, 0.5}, {"d", false, 0.6}};
    AuditedStep step{3};
    add_tensors(step, tensors, false, AuditBound());
    CHECK(step.verdict == AuditVerdict::different);
    CHECK(step.is_saved);
    CHECK_THAT(step.what, Catch::Contains("tensor exp_avg of c"));
    AuditedStep exactly{3};
    add_tensors(exactly, tensors, true, AuditBound());
    CHECK_THAT(exactly.what, Catch::Contains("tensor b "));
}

TEST_CASE("an audit finds steps without a line at the start, between others and at the end of the metrics") {
    std::map<std::int64_t, StepRecord> logged;
    for (const std::int64_t step : {801, 802, 803}) logged[step] = {};
    CHECK(missing_lines(logged, 0, 800) == "metrics.jsonl has no lines of the steps 1 to 800, which the run computed");
    CHECK(missing_lines(logged, 800, 803) == "");  // resumed in a new folder
    CHECK(missing_lines(logged, 800, 900) == "metrics.jsonl ends with step 803, but there is a checkpoint of step 900");
    logged[806] = {};
    CHECK(missing_lines(logged, 800, 0) == "metrics.jsonl has no lines of the steps 804 to 805, which the run computed");
}

TEST_CASE("an audit is as good as its worst part, and says so") {
    Audit audit;
    audit.chain.lines = 9;
    audit.stretches = {{0, {AuditedStep{1}, AuditedStep{2}}},
                       {6, {judged(false, [](StepRecord& step) { step.loss *= 1.0005; })}}};
    CHECK(audit.verdict() == AuditVerdict::within_bound);
    CHECK_THAT(text_of(audit), Catch::Contains("step 7: within the bound: loss is 7.25 in metrics.jsonl, 7.25") &&
                                   Catch::Contains("audit: equal within the bound of 0.1 % of the loss"));
    audit.chain.broken = "line 4 (step 4)";
    audit.chain.broken_step = 4;
    CHECK(audit.verdict() == AuditVerdict::different);
    CHECK_THAT(text_of(audit), Catch::Contains("chain of metrics.jsonl: broken at line 4 (step 4)"));
    const auto json = nlohmann::json::parse(json_of(audit));
    CHECK(json.at("verdict") == "different");
    CHECK(json.at("chain").at("broken_step") == 4);
    CHECK(json.at("stretches").at(1).at("steps").at(0).at("verdict") == "within_bound");
    audit.chain = {};
    audit.missing = "the metrics end early";
    CHECK(audit.verdict() == AuditVerdict::different);
}
