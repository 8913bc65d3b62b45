#pragma once
// A run's latest numbers as named gauges, for monitoring systems.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "telemetry/device_reading.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// A run's last complete checkpoint.
struct SaveRecord {
    std::int64_t step = 0;  ///< 0: none since this process started
    double seconds = 0;     ///< from its snapshot to its last file
    double time =
        unix_seconds_now();  ///< when it was complete, in seconds since 1970 UTC; without one, when this process started
};

/// The latest records of a run.
struct RunNumbers {
    std::int64_t total_steps = 0;
    StepRecord step;
    std::map<std::string, SourceRecord> sources{};  ///< by name, each from the last step with samples of it
    std::optional<EvaluationRecord> evaluation;
    SaveRecord save{};
    std::vector<RankReading> devices{};
    bool has_ended = false;  ///< after its last step, or at a limit that it was given

    void take(const StepRecord& record);
};

/// A gauge with its values: one of the run, one per source of its text, or one per rank.
struct Gauge {
    struct Value {
        std::vector<std::pair<std::string, std::string>> labels;  ///< besides the run; empty: the value is the run's
        double value = 0;
    };
    std::string name, help;
    std::vector<Value> values;
};

/// Calls visit(gauge) for each gauge of the last step, evaluation, checkpoint and reading of the devices. Gauges are named
/// bertpretrain_KEY with KEY as in metrics.jsonl, those of the sources bertpretrain_source_KEY, and those of the ranks' devices
/// bertpretrain_rank_KEY with KEY as in devices.jsonl.
void for_each_gauge(const RunNumbers& numbers, const std::function<void(const Gauge&)>& visit);

}  // namespace bertpretrain
