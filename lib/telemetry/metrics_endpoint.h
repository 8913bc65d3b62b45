#pragma once
// A run's last numbers for a Prometheus that asks for them by HTTP.

#include <memory>
#include <string>

#include "telemetry/step_record.h"

namespace bertpretrain {

/// Serves http://ADDRESS/metrics as long as it lives, on threads of its own: the gauges of gauges.h, labelled {run="NAME"}.
/// A client has one second for its request, so that slow ones do not keep the others waiting for longer.
class MetricsEndpoint {
public:
    /// @param address "127.0.0.1:9400", "[::1]:9400"; a port alone ("9400") is one of the loopback interface, port 0 any that is
    ///     free. Another interface exposes the metrics to its network: there is no password.
    /// @throws ConfigError when it is no such address, is taken or not this host's, or this build lacks prometheus-cpp
    MetricsEndpoint(const std::string& address, std::string run, std::int64_t total_steps);
    MetricsEndpoint(const MetricsEndpoint&) = delete;
    MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;
    ~MetricsEndpoint();

    /// Where it is served: "http://127.0.0.1:9400/metrics".
    std::string url() const;

    void show(const StepRecord& record);
    void show(const EvaluationRecord& record);

private:
    struct Server;
    std::string host_;
    std::unique_ptr<Server> server_;
};

}  // namespace bertpretrain
