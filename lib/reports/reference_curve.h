#pragma once
// A published loss curve, to be drawn beside a run's.

#include <filesystem>
#include <string>
#include <vector>

#include "reports/run_history.h"
#include "telemetry/chart_points.h"

namespace bertpretrain {

struct ReferenceCurve {
    std::string name;      ///< the file's name without its ending
    ChartPoints points{};  ///< (step, loss), by step; the loss is that of all of the training's tasks, as StepRecord::loss
};

/// Reads a file of lines with values separated by commas, tabs or semicolons: a header with "step" and "loss", then numbers.
/// Other columns, empty lines and lines that begin with "#" are ignored.
/// @throws DataError naming the file and the line, what was found and what was expected
ReferenceCurve read_reference(const std::filesystem::path& file);

/// Returns a run's loss at a step: the mean over the recorded steps within 1 % of it. NaN if the run has not come so far, or has
/// none there.
double loss_near(const RunHistory& run, double step);

/// Returns a header row, then a row per point of each curve that a run has reached: step, the curve's loss, each run's loss and
/// its difference from the curve's.
std::vector<std::vector<std::string>> reference_rows(const std::vector<RunHistory>& runs,
                                                     const std::vector<ReferenceCurve>& references);

}  // namespace bertpretrain
