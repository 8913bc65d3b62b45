#pragma once
// How much time and money a run has used, how much the rest will take, and when to stop within its limits.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/run_plan.h"
#include "reports/run_history.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {

/// The options --deadline, --budget and --price of `train`. All of them count the whole run: every start of it, without the time
/// between a start's last record and the next start.
struct RunLimits {
    std::optional<double> seconds;         ///< of the run
    std::optional<double> budget;          ///< in `currency`
    std::optional<double> price_per_hour;  ///< of one accelerator (one rank), in `currency`
    std::string currency = "USD";

    bool any() const { return seconds || budget || price_per_hour; }

    /// @param deadline such as "20h"; empty: none  @param budget such as "500USD"; empty: none
    /// @throws ConfigError naming the option, if a text cannot be read or there is a budget without a price
    static RunLimits parse(const std::string& deadline, const std::string& budget, const std::optional<double>& price);
};

/// What a run has used and what its remaining steps will use at the rate of this start.
struct SpendingForecast {
    double seconds = 0, seconds_left = 0;
    std::optional<double> cost, cost_left;  ///< nullopt: no price is known
    std::optional<std::int64_t> last_step;  ///< the step at which a limit is reached; nullopt: after the run's last step
    /// What `plan` expects of all steps of the run on these machines; nullopt: unknown.
    std::optional<double> planned_seconds, planned_cost;
};

/// What a run has yet to do.
struct RemainingSteps {
    std::int64_t done = 0, total = 0;  ///< steps
    std::int64_t sequences = 0;        ///< of the steps between them
};

/// Kept by rank 0. All times are those of seconds_now().
class Spending {
public:
    /// @param before used by earlier starts of the run  @param ranks of this start, which begins at `begin`
    /// @param save_seconds how long the last save may take, until a longer one is seen
    /// @param planned_seconds what `plan` expects of the run
    Spending(const RunLimits& limits, const Spent& before, std::int64_t ranks, double save_seconds, double begin,
             std::optional<double> planned_seconds = std::nullopt);

    /// Records the end of a step of so many sequences.
    void step_done(double now, std::int64_t sequences);
    /// Records how long a save took.
    void saved(double seconds);

    /// Returns why to stop now: the rest of a limit may not suffice for two more steps and a save. nullopt: continue.
    std::optional<std::string> reason_to_stop(double now) const;
    /// Returns nullopt before the second step of this start.
    std::optional<SpendingForecast> forecast(const RemainingSteps& left, double now) const;

    const RunLimits& limits() const { return limits_; }

private:
    double run_seconds(double now) const { return before_.seconds + now - begin_; }
    std::optional<double> cost(double now) const;
    /// Seconds from `now` to the nearest limit; infinity without limits.
    double seconds_to_limit(double now) const;

    RunLimits limits_;
    Spent before_;
    double ranks_, save_seconds_, begin_;
    std::optional<double> planned_seconds_;
    double first_step_end_ = 0, last_step_end_ = 0;
    std::int64_t steps_ = 0;        ///< of this start
    std::int64_t sequences_ = 0;    ///< of these steps without the first
    std::deque<double> intervals_;  ///< seconds between the ends of the latest steps, with evaluations and saves between them
};

/// Returns the spending of a run that starts now, or nullopt if `limits` has neither a limit nor a price. Reads from the run's
/// folder what its earlier starts used; starts that ended before the run's first step are not counted. Forecasts what `plan`
/// would, from the GEMM rate that this start has measured.
std::optional<Spending> open_spending(const RunLimits& limits, const RunPlan& plan, const RunPaths& run);

/// Returns "1h 02m and 3.20 USD used, ..." for the log. @param total_steps of the run
std::string forecast_text(const SpendingForecast& forecast, const RunLimits& limits, std::int64_t total_steps);

/// Returns the same numbers for events.jsonl.
nlohmann::ordered_json to_json(const SpendingForecast& forecast, const RunLimits& limits);

}  // namespace bertpretrain
