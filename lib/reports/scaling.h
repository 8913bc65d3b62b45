#pragma once
// Throughput by number of accelerators, as a table and as charts.

#include <cstdint>
#include <string>
#include <vector>

#include "reports/device_charts.h"
#include "reports/run_history.h"

namespace bertpretrain {

struct ScalingPoint {
    std::string run;
    std::int64_t accelerators = 1;
    double sequences_per_second = 0;
    double efficiency = 1;     ///< rate per accelerator, relative to that of the smallest run
    double epoch_seconds = 0;  ///< 0: the run does not record the length of its epochs

    double per_accelerator() const { return sequences_per_second / static_cast<double>(accelerators); }
};

/// Returns a point per run, sorted by number of accelerators. The first run is the baseline of the efficiencies: the smallest,
/// and the fastest of equally small ones.
std::vector<ScalingPoint> scaling_points(const std::vector<RunHistory>& runs);

/// Returns a header row, then rows of accelerators, sequences/s, per accelerator, efficiency, time of an epoch ("-": not known),
/// run.
std::vector<std::vector<std::string>> scaling_rows(const std::vector<ScalingPoint>& points);

/// Returns charts over accelerators: sequences per second, the efficiency in percent, and the hours of an epoch where all runs
/// record its length; the first and the last with the ideal line.
std::vector<NamedChart> scaling_charts(const std::vector<ScalingPoint>& points);

}  // namespace bertpretrain
