#pragma once
// A run's latest numbers as named gauges, for monitoring systems.

#include <functional>
#include <optional>
#include <string>

#include "telemetry/step_record.h"

namespace bertpretrain {

/// The latest records of a run.
struct RunNumbers {
    std::int64_t total_steps = 0;
    StepRecord step;
    std::optional<EvaluationRecord> evaluation;
};

/// Calls visit(name, help, value) for each gauge of the last step and the last evaluation. Gauges are named bertpretrain_KEY,
/// with KEY as in metrics.jsonl.
void for_each_gauge(const RunNumbers& numbers, const std::function<void(const std::string&, const std::string&, double)>& visit);

}  // namespace bertpretrain
