#pragma once
// What more accelerators bring: the table and the figures of published scaling runs.

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
    double efficiency = 1;  ///< rate per accelerator, against that of the smallest run

    double per_accelerator() const { return sequences_per_second / static_cast<double>(accelerators); }
};

/// A point per run, the smallest world first; of equally small ones the fastest is the measure.
std::vector<ScalingPoint> scaling_points(const std::vector<RunHistory>& runs);

/// accelerators, sequences/s, per accelerator, efficiency, run.
std::vector<std::vector<std::string>> scaling_rows(const std::vector<ScalingPoint>& points);

/// Sequences per second against accelerators, beside the ideal.
Chart scaling_chart(const std::vector<ScalingPoint>& points);
/// Efficiency in percent against accelerators.
Chart efficiency_chart(const std::vector<ScalingPoint>& points);

}  // namespace bertpretrain
