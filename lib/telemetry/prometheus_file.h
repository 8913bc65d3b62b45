#pragma once
// A run's last numbers as Prometheus reads them from node-exporter's textfile collector.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/displayable.h"
#include "telemetry/gauges.h"

namespace bertpretrain {

/// The gauges of gauges.h, labelled {run="NAME"}. The file is always
/// whole: it is replaced, at the first record, then every 10 seconds at most, and at the end. To have it collected, link it:
/// `ln -s RUN/metrics.prom /var/lib/node_exporter/textfile/NAME.prom`. A run does not end because it cannot be written: there is
/// one warning then, and no more writing.
class PrometheusFile {
public:
    /// @param run the label; its last folder's name is usual. What is not UTF-8 in it is shown as \xNN, for Prometheus takes no
    /// other
    /// @param seconds a clock that never goes back
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
    /// Writes the last numbers where the file does not hold them.
    void finish();
    /// Never writes again, not even at the end.
    void give_up() { is_broken_ = true; }

private:
    std::string text() const;
    void write();

    std::filesystem::path file_;
    std::string run_;
    RunNumbers numbers_;
    std::function<double()> seconds_;
    std::optional<double> written_;  ///< when
    bool is_due_ = false, is_broken_ = false;
};

}  // namespace bertpretrain
