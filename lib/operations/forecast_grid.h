#pragma once
// Forecasts a run on several accelerators, networks and world sizes.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "batches/batch_sizes.h"
#include "operations/fabric.h"
#include "operations/run_forecast.h"
#include "operations/step_model.h"

namespace bertpretrain {

/// The sequences of a pass, and whether a rank then fits into the accelerator's memory; nothing: unknown.
struct PlannedPass {
    std::int64_t sequences = 16;
    std::optional<bool> fits;
};

struct ForecastGrid {
    PlannedStep step;  ///< all fields except world size, global batch, and micro-batch if there is a `pass`
    std::function<PlannedPass(const Accelerator& accelerator, std::int64_t world_size)> pass;  ///< may be empty
    std::function<BatchSizes(std::int64_t world_size)> batch_sizes;
    std::vector<Accelerator> accelerators;
    std::vector<Network> networks;          ///< empty: of each accelerator its own
    std::vector<std::int64_t> world_sizes;  ///< ascending
    ForecastInputs run;                     ///< fields that do not depend on the step: steps, failures, restart
    double save_gbps = 1;                   ///< write speed of checkpoints, GB/s
    bool background = true;                 ///< training goes on while a checkpoint is written
};

/// One row of the plan.
struct ForecastRow {
    Accelerator accelerator;
    Network network;
    PlannedStep step;
    StepTime time;
    Forecast forecast;
    double save_seconds = 0;   ///< by which a save delays training
    std::optional<bool> fits;  ///< into the accelerator's memory; nothing: unknown
    double efficiency = 1;     ///< rate per accelerator, relative to the smallest world on the same accelerator and network

    double rate() const { return static_cast<double>(step.global_batch) / time.total(); }
    double per_accelerator() const { return rate() / static_cast<double>(step.world_size); }
};

/// Returns a row for every combination of accelerator, network and world size.
std::vector<ForecastRow> plan_runs(const ForecastGrid& inputs);

/// @param deadline_hours the last column shows whether each run meets it; nullopt: no such column
std::string plan_table(const std::vector<ForecastRow>& plan, const std::optional<double>& deadline_hours);
/// Returns the machines that the plan assumes (accelerators, nodes, prices, networks), a line each, with the source of the
/// numbers.
std::string plan_assumptions(const std::vector<ForecastRow>& plan);
nlohmann::ordered_json plan_json(const ForecastRow& planned);

}  // namespace bertpretrain
