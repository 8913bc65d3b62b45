#pragma once
// A run's last numbers for a Prometheus that asks for them by HTTP.

#include <memory>
#include <string>

#include "telemetry/step_record.h"

namespace bertpretrain {

/// Serves http://ADDRESS/metrics as long as it lives, on threads of its own: the gauges of gauges.h, labelled {run="NAME"}.
class MetricsEndpoint {
public:
    /// @param address "127.0.0.1:9400"; who names another interface opens it to whoever reaches it
    /// @throws ConfigError when nobody may listen there, or this build lacks prometheus-cpp
    MetricsEndpoint(const std::string& address, std::string run, std::int64_t total_steps);
    MetricsEndpoint(const MetricsEndpoint&) = delete;
    MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;
    ~MetricsEndpoint();

    void show(const StepRecord& record);
    void show(const EvaluationRecord& record);

private:
    struct Server;
    std::unique_ptr<Server> server_;
};

}  // namespace bertpretrain
