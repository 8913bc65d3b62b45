#pragma once
// The losses of a run's sources, where it trains on several with weights.

#include <optional>
#include <string>
#include <vector>

#include "reports/run_history.h"
#include "telemetry/chart.h"

namespace bertpretrain {

/// Returns a table with a heading: per run and source its part of the samples, its samples and epochs, its MLM and NSP losses as
/// means over the last tenth of its steps, at most 100 of them, and its last held-out MLM loss. Empty if no run has several
/// sources.
std::vector<std::vector<std::string>> source_rows(const std::vector<RunHistory>& runs);

/// Returns a chart with a line per run and source: the MLM loss, smoothed like that of the run, and another with its
/// held-out MLM loss where it was evaluated. Nothing if there are none.
std::optional<Chart> source_loss_chart(const std::vector<RunHistory>& runs);

}  // namespace bertpretrain
