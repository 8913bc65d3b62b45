#include "telemetry/gauges.h"

namespace bertpretrain {

void for_each_gauge(const RunNumbers& numbers, const std::function<void(const std::string&, const std::string&, double)>& visit) {
    const auto gauge = [&](const std::string& key, const std::string& help, double value) {
        visit("bertpretrain_" + key, help, value);
    };
    gauge("total_steps", "Number of steps of the whole run.", static_cast<double>(numbers.total_steps));
    StepRecord::fields(numbers.step, [&](const std::string& key, const auto& value) {
        if (key == "elapsed_seconds") return;  // restarts from 0 at each start; the time is exported instead
        const bool is_time = key == "time";
        gauge(is_time ? "last_step_timestamp_seconds" : key,
              is_time ? "End time of the last step in seconds since 1970 UTC." : "Value of the last step, as in metrics.jsonl.",
              static_cast<double>(value));
    });
    gauge("checkpoint_step", "Optimizer step of the last checkpoint of this process; 0 without one.",
          static_cast<double>(numbers.save.step));
    gauge("checkpoint_seconds", "How long the last checkpoint took to write.", numbers.save.seconds);
    gauge("last_checkpoint_timestamp_seconds",
          "When the last checkpoint was complete, or the process started, in seconds since 1970 UTC.", numbers.save.time);
    if (!numbers.evaluation) return;
    EvaluationRecord::fields(*numbers.evaluation, [&](const std::string& key, const auto& value) {
        if (key.starts_with("held_out_") || key.starts_with("probe_"))
            gauge(key, "Value of the last evaluation, as in metrics.jsonl.", static_cast<double>(value));
    });
    gauge("held_out_step", "Optimizer step of the last evaluation.", static_cast<double>(numbers.evaluation->step));
}

}  // namespace bertpretrain
