#pragma once
// Writes a run's latest numbers for node-exporter's textfile collector, from which Prometheus reads them.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/output/displayable.h"
#include "telemetry/gauges.h"

namespace bertpretrain {

/// Writes the gauges of gauges.h, labelled {run="NAME"}. Replaces the file atomically: at the first record, then at most every
/// 10 seconds, and at the end. To collect it: `ln -s RUN/metrics.prom /var/lib/node_exporter/textfile/NAME.prom`. If writing
/// fails, it logs one warning, and tries again after 10 seconds; the run continues.
class PrometheusFile {
public:
    /// @param run the label, usually the name of the run's folder. Bytes that are not UTF-8 become \xNN, because Prometheus
    /// accepts only UTF-8
    /// @param seconds a monotonic clock
    PrometheusFile(std::filesystem::path file, std::string run, std::int64_t total_steps,
                   std::function<double()> seconds = seconds_now)
        : file_(std::move(file)), run_(displayable(run)), seconds_(std::move(seconds)) {
        numbers_.total_steps = total_steps;
    }
    PrometheusFile(const PrometheusFile&) = delete;
    PrometheusFile& operator=(const PrometheusFile&) = delete;
    ~PrometheusFile();

    void show(const StepRecord& record);
    void show(const EvaluationRecord& record);
    void show(const SaveRecord& record);
    void show(const DevicesRecord& record);
    void show_end();  ///< sets RunNumbers::has_ended
    /// Writes the latest numbers if they are not in the file yet.
    void finish();
    /// Stops all writing, including the last write at the end.
    void give_up() { has_given_up_ = true; }

private:
    std::string text() const;
    void write();

    std::filesystem::path file_;
    std::string run_;
    RunNumbers numbers_;
    std::function<double()> seconds_;
    std::optional<double> written_;  ///< time of the last attempt
    bool is_due_ = false, has_warned_ = false, has_given_up_ = false;
};

}  // namespace bertpretrain
