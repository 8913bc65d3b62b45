#include "train/stop/spending.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/concat.h"
#include "core/error.h"
#include "core/money.h"
#include "core/strings.h"
#include "operations/this_machine.h"
#include "plan/planned_step.h"
#include "train/save/snapshot.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_intervals = 20;

/// Assumed until a save was measured.
constexpr double save_bytes_per_second = 200e6;

std::string amount_text(double seconds, const std::optional<double>& cost, const std::string& currency) {
    return cost ? concat(duration_text(seconds), " and ", fixed(*cost, 2), " ", currency) : duration_text(seconds);
}

/// What `plan` expects of all steps, with the GEMM rate of these devices and the network that `plan` assumes between hosts.
std::optional<double> planned_seconds(const RunPlan& plan) {
    if (!plan.compute.gemm_flops) return std::nullopt;
    Accelerator rank;
    rank.sustained_tflops =
        sustained_share(plan.compute.on_gpu) * *plan.compute.gemm_flops * 1e-12 / static_cast<double>(plan.parallel.world_size);
    rank.per_node = plan.parallel.ranks_of_host;
    rank.is_cpu = !plan.compute.on_gpu;
    const double step = step_time(planned_step(plan), rank, find_network(rank.network)).total();
    return step * plan.settings.batch.sizes().steps_of(plan.global_batch(), 0, plan.settings.schedule.total_steps);
}

Spent spent_in(const RunPaths& run) {
    if (!std::filesystem::exists(run.metrics())) return {};
    try {
        return spent_until(read_run(run.folder()), std::numeric_limits<double>::infinity());
    } catch (const DataError&) { return {}; }  // no step yet
}

/// What a run's earlier starts used; those of all phases, if the folder is a phase's.
Spent spent_before(const RunPaths& run) {
    if (is_phase_of_run(run.folder())) {
        Spent all;
        for (const std::filesystem::path& phase : phases_of_run(run.folder().parent_path().parent_path())) {
            const Spent one = spent_in(RunPaths(phase));
            all.seconds += one.seconds;
            all.accelerator_seconds += one.accelerator_seconds;
            all.restarts += one.restarts;
        }
        return all;
    }
    return spent_in(run);
}

}  // namespace

RunLimits RunLimits::parse(const std::string& deadline, const std::string& budget, const std::optional<double>& price) {
    RunLimits limits;
    limits.price_per_hour = price;
    if (!deadline.empty()) {
        limits.seconds = duration_seconds(deadline);
        if (!limits.seconds)
            throw ConfigError(concat("--deadline ", deadline, ": expected a number of hours, such as 20h; also 90m, 3d"));
    }
    if (budget.empty()) return limits;
    const std::optional<Money> money = read_money(budget);
    if (!money) throw ConfigError(concat("--budget ", budget, ": expected an amount of money, such as 500USD"));
    if (!price)
        throw ConfigError(concat("--budget ", budget, ": needs the price of an accelerator per hour\n  do: add --price 2.50"));
    limits.budget = money->amount;
    limits.currency = money->currency;
    return limits;
}

Spending::Spending(const RunLimits& limits, const Spent& before, std::int64_t ranks, double save_seconds, double begin,
                   std::optional<double> planned_seconds)
    : limits_(limits),
      before_(before),
      ranks_(static_cast<double>(ranks)),
      save_seconds_(save_seconds),
      begin_(begin),
      planned_seconds_(planned_seconds) {}

void Spending::step_done(double now, std::int64_t sequences) {
    if (++steps_ == 1) {
        first_step_end_ = now;
    } else {
        intervals_.push_back(now - last_step_end_);
        sequences_ += sequences;
    }
    if (intervals_.size() > most_intervals) intervals_.pop_front();
    last_step_end_ = now;
}

void Spending::saved(double seconds) { save_seconds_ = std::max(save_seconds_, seconds); }

std::optional<double> Spending::cost(double now) const {
    if (!limits_.price_per_hour) return std::nullopt;
    return (before_.accelerator_seconds + ranks_ * (now - begin_)) / 3600 * *limits_.price_per_hour;
}

double Spending::seconds_to_limit(double now) const {
    double left = std::numeric_limits<double>::infinity();
    if (limits_.seconds) left = *limits_.seconds - run_seconds(now);
    if (limits_.budget) left = std::min(left, (*limits_.budget - *cost(now)) / (ranks_ * *limits_.price_per_hour) * 3600);
    return left;
}

std::optional<std::string> Spending::reason_to_stop(double now) const {
    const double step = intervals_.empty() ? 0 : *std::max_element(intervals_.begin(), intervals_.end());
    const double left = seconds_to_limit(now), needed = 2 * step + save_seconds_;
    if (left > needed) return std::nullopt;
    const std::string used = amount_text(run_seconds(now), cost(now), limits_.currency);
    std::string given;
    if (limits_.seconds) given = concat("--deadline ", duration_text(*limits_.seconds));
    if (limits_.budget) given += concat(given.empty() ? "" : ", ", "--budget ", fixed(*limits_.budget, 2), " ", limits_.currency);
    return concat("the run has used ", used, " (", given, "), and two more steps and a save may take ", duration_text(needed));
}

std::optional<SpendingForecast> Spending::forecast(const RemainingSteps& left, double now) const {
    if (steps_ < 2) return std::nullopt;
    const double per_sequence = (now - first_step_end_) / static_cast<double>(sequences_);
    SpendingForecast forecast;
    forecast.seconds = run_seconds(now);
    forecast.seconds_left = per_sequence * static_cast<double>(left.sequences);
    forecast.cost = cost(now);
    forecast.planned_seconds = planned_seconds_;
    if (forecast.cost) {
        const double per_second = ranks_ / 3600 * *limits_.price_per_hour;
        forecast.cost_left = per_second * forecast.seconds_left;
        if (planned_seconds_) forecast.planned_cost = per_second * *planned_seconds_;
    }
    const double usable = seconds_to_limit(now) - save_seconds_;
    if (usable < forecast.seconds_left)
        forecast.last_step = left.done + static_cast<std::int64_t>(std::max(0.0, usable) / forecast.seconds_left *
                                                                   static_cast<double>(left.total - left.done));
    return forecast;
}

std::optional<Spending> open_spending(const RunLimits& limits, const RunPlan& plan, const RunPaths& run) {
    if (!limits.any()) return std::nullopt;
    const double commands = plan.settings.checkpoint.after_save.empty() ? 0 : plan.settings.checkpoint.stop_grace_seconds;
    const double save_seconds = 1 + static_cast<double>(checkpoint_bytes(plan.settings.model)) / save_bytes_per_second + commands;
    return Spending(limits, spent_before(run), plan.parallel.world_size, save_seconds, seconds_now(), planned_seconds(plan));
}

std::string forecast_text(const SpendingForecast& forecast, const RunLimits& limits, std::int64_t total_steps) {
    std::string text = concat("forecast: ", amount_text(forecast.seconds, forecast.cost, limits.currency),
                              " used; the rest takes ", amount_text(forecast.seconds_left, forecast.cost_left, limits.currency));
    if (forecast.last_step)
        text += concat("; the limit is reached at about step ", with_thousands(*forecast.last_step), " of ",
                       with_thousands(total_steps));
    else if (limits.seconds || limits.budget) text += ", within the limit";
    if (forecast.planned_seconds)
        text += concat("; the whole run takes ", duration_text(forecast.seconds + forecast.seconds_left), ", and `plan` expects ",
                       amount_text(*forecast.planned_seconds, forecast.planned_cost, limits.currency));
    return text;
}

nlohmann::ordered_json to_json(const SpendingForecast& forecast, const RunLimits& limits) {
    nlohmann::ordered_json json{{"run_seconds", forecast.seconds}, {"run_seconds_left", forecast.seconds_left}};
    if (forecast.cost) {
        json["cost"] = *forecast.cost;
        json["cost_left"] = *forecast.cost_left;
        json["currency"] = limits.currency;
    }
    if (forecast.planned_seconds) json["planned_run_seconds"] = *forecast.planned_seconds;
    if (forecast.planned_cost) json["planned_cost"] = *forecast.planned_cost;
    if (forecast.last_step) json["last_step_within_limits"] = *forecast.last_step;
    return json;
}

}  // namespace bertpretrain
