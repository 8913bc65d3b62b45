#pragma once
// The pictures of a report.

#include <string>
#include <vector>

#include "reports/run_history.h"
#include "telemetry/chart.h"

namespace bertpretrain {

struct NamedChart {
    std::string name;  ///< of its file, without ".svg"
    Chart chart;
};

/// Losses against steps, epochs and hours, accuracy, learning rate, gradient norm, sequences per second, shares of a step that
/// waited for data and for other ranks. Every run has its color; restarts are marked. Charts that would be empty are left out.
std::vector<NamedChart> run_charts(const std::vector<RunHistory>& runs);

}  // namespace bertpretrain
