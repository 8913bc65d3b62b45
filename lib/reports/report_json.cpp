#include "reports/report_json.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reports/scaling.h"
#include "reports/setting_differences.h"
#include "reports/time_shares.h"

namespace bertpretrain {
namespace {

void add_cost(nlohmann::ordered_json& json, const std::optional<Money>& cost) {
    if (cost) json.update({{"cost", cost->amount}, {"currency", cost->currency}});
}

nlohmann::ordered_json summary_of(const RunHistory& run, const HourlyPrices& prices) {
    const StepRecord& last = run.metrics.steps.back();
    const Spent spent = spent_until(run, INFINITY);
    nlohmann::ordered_json json = {{"name", run.name},
                                   {"folder", run.folder.string()},
                                   {"ranks", run.sessions.back().ranks},
                                   {"step", last.step},
                                   {"total_steps", nullptr},
                                   {"exit", nullptr},
                                   {"sequences", last.samples},
                                   {"mlm_loss", last_training_loss(run)},
                                   {"best_held_out_mlm_loss", nullptr},
                                   {"held_out_rows", nullptr},
                                   {"sequences_per_second", steady_rate(run)},
                                   {"model_tflops_per_second", steady_tflops(run)},
                                   {"seconds", spent.seconds},
                                   {"accelerator_seconds", spent.accelerator_seconds},
                                   {"restarts", run.restarts()},
                                   {"share_computing", time_shares(run).utilisation()}};
    if (run.exit) json["exit"] = {{"code", run.exit->code}, {"cause", run.exit->cause}};
    if (run.total_steps > 0) json["total_steps"] = run.total_steps;
    if (!run.held_out.empty()) json["held_out_rows"] = run.held_out;
    if (const auto best = best_held_out_loss(run)) json["best_held_out_mlm_loss"] = *best;
    add_cost(json, prices.cost_of(run, spent));
    return json;
}

/// Every evaluation, in order: {"step", "mlm_loss"}.
nlohmann::ordered_json held_out_curve(const RunHistory& run) {
    auto curve = nlohmann::ordered_json::array();
    for (const EvaluationRecord& one : run.metrics.evaluations) curve.push_back({{"step", one.step}, {"mlm_loss", one.mlm_loss}});
    return curve;
}

/// The value of a setting; null where the run has none. @param text as setting_differences() writes it
nlohmann::ordered_json setting_json(const std::string& text) {
    const auto value = nlohmann::ordered_json::parse(text, nullptr, false);
    return value.is_discarded() ? nlohmann::ordered_json() : value;
}

nlohmann::ordered_json reached_json(const RunHistory& run, const ReportChoices& choices) {
    const auto reached = first_reached(run, *choices.target);
    if (!reached) return nullptr;
    nlohmann::ordered_json json = {{"step", reached->step},
                                   {"sequences", reached->samples},
                                   {"seconds", reached->spent.seconds},
                                   {"accelerator_seconds", reached->spent.accelerator_seconds}};
    add_cost(json, choices.prices.cost_of(run, reached->spent));
    return json;
}

}  // namespace

nlohmann::ordered_json report_json(const std::vector<RunHistory>& runs, const ReportChoices& choices) {
    nlohmann::ordered_json json = {{"runs", nlohmann::ordered_json::array()}};
    const std::vector<std::vector<std::string>> differences = setting_differences(runs);
    const std::vector<ScalingPoint> points = scaling_points(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        nlohmann::ordered_json one = summary_of(runs[i], choices.prices);
        for (std::size_t row = 1; row < differences.size(); ++row)
            one["settings"][differences[row][0]] = setting_json(differences[row][i + 1]);
        one["held_out_curve"] = held_out_curve(runs[i]);
        if (choices.target) {
            one["target"] = reached_json(runs[i], choices);
            one["target_measured"] = is_measured(runs[i], *choices.target);
        }
        const auto point =
            std::find_if(points.begin(), points.end(), [&](const ScalingPoint& of) { return of.run == runs[i].name; });
        if (choices.scaling && point != points.end()) one["scaling_efficiency"] = point->efficiency;
        if (choices.scaling && point != points.end() && point->epoch_seconds > 0) one["epoch_seconds"] = point->epoch_seconds;
        json["runs"].push_back(std::move(one));
    }
    return json;
}

}  // namespace bertpretrain
