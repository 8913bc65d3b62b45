#pragma once
// A run's last numbers as a monitor wants them: named gauges.

#include <functional>
#include <optional>
#include <string>

#include "telemetry/step_record.h"

namespace bertpretrain {

/// The last of everything.
struct RunNumbers {
    std::int64_t total_steps = 0;
    StepRecord step;
    std::optional<EvaluationRecord> evaluation;
};

/// Calls visit(name, help, value) for each gauge: bertpretrain_KEY, KEY as in metrics.jsonl, of the last step and the last
/// evaluation.
void for_each_gauge(const RunNumbers& numbers, const std::function<void(const std::string&, const std::string&, double)>& visit);

}  // namespace bertpretrain
