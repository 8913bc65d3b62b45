#pragma once
// Serves a run's latest numbers to Prometheus by HTTP.

#include <memory>
#include <string>

#include "telemetry/gauges.h"

namespace bertpretrain {

/// Serves the gauges of gauges.h, labelled {run="NAME"}, at http://ADDRESS/metrics until destruction, on its own threads.
/// Requests time out after one second, so that slow clients do not delay others for longer.
class MetricsEndpoint {
public:
    /// @param address "127.0.0.1:9400" or "[::1]:9400". A port alone ("9400") means 127.0.0.1; port 0 selects a free port. Other
    ///     addresses expose the metrics to the network: there is no password.
    /// @throws ConfigError if the address is invalid, in use or not this host's, or this build lacks prometheus-cpp
    MetricsEndpoint(const std::string& address, std::string run, std::int64_t total_steps);
    MetricsEndpoint(const MetricsEndpoint&) = delete;
    MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;
    ~MetricsEndpoint();

    /// Returns the URL, e.g. "http://127.0.0.1:9400/metrics".
    std::string url() const;

    void show(const StepRecord& record);
    void show(const EvaluationRecord& record);
    void show(const SaveRecord& record);
    void show(const DevicesRecord& record);
    void show_end();  ///< sets RunNumbers::has_ended

private:
    struct Server;
    std::string host_;
    std::unique_ptr<Server> server_;
};

}  // namespace bertpretrain
