#pragma once
// Throughput by number of accelerators, as a table and as charts.

#include <cstdint>
#include <string>
#include <vector>

#include "reports/run_history.h"
#include "telemetry/chart.h"

namespace bertpretrain {

struct ScalingPoint {
    std::string run;
    std::int64_t accelerators = 1;
    double sequences_per_second = 0;
    double efficiency = 1;  ///< rate per accelerator, relative to that of the smallest run

    double per_accelerator() const { return sequences_per_second / static_cast<double>(accelerators); }
};

/// Returns a point per run, sorted by number of accelerators. The first run is the baseline of the efficiencies: the smallest,
/// and the fastest of equally small ones.
std::vector<ScalingPoint> scaling_points(const std::vector<RunHistory>& runs);

/// Returns a header row, then rows of accelerators, sequences/s, per accelerator, efficiency, run.
std::vector<std::vector<std::string>> scaling_rows(const std::vector<ScalingPoint>& points);

/// Sequences per second over accelerators, measured and ideal.
Chart scaling_chart(const std::vector<ScalingPoint>& points);
/// Efficiency in percent over accelerators.
Chart efficiency_chart(const std::vector<ScalingPoint>& points);

}  // namespace bertpretrain
