#pragma once
// A run forecast on several accelerators, networks and numbers of ranks, side by side.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "operations/fabric.h"
#include "operations/run_forecast.h"
#include "operations/step_model.h"

namespace bertpretrain {

struct ForecastGrid {
    PlannedStep step;  ///< all but the number of ranks and the batch
    std::function<std::int64_t(std::int64_t world_size)> global_batch;
    std::vector<Accelerator> accelerators;
    std::vector<Network> networks;
    std::vector<std::int64_t> world_sizes;  ///< ascending
    ForecastInputs run;                     ///< all but what follows from a step's time
    double save_gbps = 1;                   ///< GB/s at which a checkpoint is written
};

/// A line of the plan.
struct ForecastRow {
    Accelerator accelerator;
    Network network;
    PlannedStep step;
    StepTime time;
    Forecast forecast;
    double efficiency = 1;  ///< rate per accelerator against that of the smallest world on the same accelerator and network

    double rate() const { return static_cast<double>(step.global_batch) / time.total(); }
    double per_accelerator() const { return rate() / static_cast<double>(step.world_size); }
};

/// Every accelerator with every network and number of ranks.
std::vector<ForecastRow> plan_runs(const ForecastGrid& inputs);

/// @param deadline_hours judged in the last column
std::string plan_table(const std::vector<ForecastRow>& plan, const std::optional<double>& deadline_hours);
/// What was assumed of accelerators and networks, and where it is from.
std::string plan_assumptions(const std::vector<ForecastRow>& plan);
nlohmann::ordered_json plan_json(const ForecastRow& planned);

}  // namespace bertpretrain
