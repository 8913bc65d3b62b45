#pragma once
// Charts of what the devices and hosts of all ranks reported about themselves (devices.jsonl).

#include <string>
#include <vector>

#include "reports/run_history.h"
#include "telemetry/chart.h"

namespace bertpretrain {

struct NamedChart {
    std::string name;  ///< file name without ".svg", and id in the page
    Chart chart;
};

/// Returns charts of utilization, memory, clock, temperature, power, throttling, and memory and link errors over the hours since
/// a run's first reading. Each rank has a line. Of a run with more than eight ranks, the lines are the lowest, the median and the
/// highest rank instead. Counters begin at 0. Omits lines with fewer than two readings, and charts without lines or with zeros
/// only. Skips what cannot be read: a run may have no devices.jsonl, or be writing its last line.
std::vector<NamedChart> device_charts(const std::vector<RunHistory>& runs);

}  // namespace bertpretrain
