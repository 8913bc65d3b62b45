#include "reports/run_comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/strings.h"
#include "telemetry/chart_points.h"

namespace bertpretrain {
namespace {

/// Returns the pairs of the records with equal steps. A step that occurs twice counts with its last record.
template <class Record>
std::vector<LossPair> pairs_of(const std::vector<Record>& of_a, const std::vector<Record>& of_b) {
    std::map<std::int64_t, double> losses_b;
    for (const Record& record : of_b) losses_b[record.step] = record.mlm_loss;
    std::map<std::int64_t, LossPair> pairs;
    for (const Record& record : of_a)
        if (const auto other = losses_b.find(record.step); other != losses_b.end())
            pairs[record.step] = {record.step, record.mlm_loss, other->second};
    std::vector<LossPair> in_order;
    for (const auto& [step, pair] : pairs) in_order.push_back(pair);
    return in_order;
}

bool differs_less(const LossPair& one, const LossPair& other) { return one.relative_difference() < other.relative_difference(); }

ChartPoints points_of(const std::vector<LossPair>& pairs) {
    ChartPoints points;
    for (const LossPair& pair : pairs) points.emplace_back(static_cast<double>(pair.step), 100 * pair.relative_difference());
    return points;
}

}  // namespace

double LossPair::relative_difference() const {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    return a == b ? 0 : std::abs(a - b) / std::abs(a);
}

const LossPair& RunComparison::worst_held_out() const {
    return *std::max_element(held_out.begin(), held_out.end(), differs_less);
}

std::optional<LossPair> RunComparison::worst_training() const {
    const auto worst = std::max_element(training.begin(), training.end(), differs_less);
    return worst == training.end() ? std::nullopt : std::optional(*worst);
}

std::int64_t RunComparison::equal_training_steps() const {
    return std::count_if(training.begin(), training.end(), [](const LossPair& pair) { return pair.a == pair.b; });
}

std::string percent_text(double relative_difference) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g %%", 100 * relative_difference);
    return text.data();
}

RunComparison compare_runs(const RunHistory& a, const RunHistory& b) {
    RunComparison comparison{a.name, b.name, pairs_of(a.metrics.evaluations, b.metrics.evaluations),
                             pairs_of(a.metrics.steps, b.metrics.steps)};
    if (comparison.held_out.empty())
        throw ConfigError(concat(a.name, " (", a.metrics.evaluations.size(), " evaluations) and ", b.name, " (",
                                 b.metrics.evaluations.size(), "): no step was evaluated on held-out text in both runs",
                                 "\n  do: train both with the same evaluation.every_steps"));
    const auto rows = [](const RunHistory& run) { return join({run.held_out.begin(), run.held_out.end()}, "; "); };
    if (!a.held_out.empty() && !b.held_out.empty() && a.held_out != b.held_out)
        throw ConfigError(concat(a.name, " and ", b.name, " were measured on different held-out rows (", rows(a), " and ",
                                 rows(b), "), so that their losses say nothing about each other",
                                 "\n  do: measure both on the same rows: bertpretrain evaluate RUN RUN --shards FOLDER"));
    return comparison;
}

std::vector<std::vector<std::string>> comparison_rows(const RunComparison& comparison) {
    std::vector<std::vector<std::string>> rows{{"step", comparison.name_a, comparison.name_b, "difference"}};
    for (const LossPair& pair : comparison.held_out)
        rows.push_back({std::to_string(pair.step), fixed(pair.a, 6), fixed(pair.b, 6), percent_text(pair.relative_difference())});
    return rows;
}

Chart comparison_chart(const RunComparison& comparison, double bound) {
    return {.title = concat("MLM loss: ", comparison.name_b, " against ", comparison.name_a),
            .x_label = "optimizer step",
            .y_label = "relative difference, %",
            .lines = {{"training", "#9ecae1", thinned(points_of(comparison.training)), 1, false},
                      {"held out", "#d62728", thinned(points_of(comparison.held_out)), 2, true}},
            .levels = {{concat("bound, ", percent_text(bound)), 100 * bound}},
            .y_from_zero = true};
}

}  // namespace bertpretrain
