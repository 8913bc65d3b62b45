#pragma once
// Which settings differ between runs.

#include <string>
#include <vector>

#include "reports/run_history.h"

namespace bertpretrain {

/// Returns a header row, then a row per setting that does not have the same value in all runs' settings.json: its path, and its
/// value in each run ("-": the run's settings lack it). A setting that differs between the phases of a run has a row for each
/// phase: "PHASE.path". Only the header row where none differs.
std::vector<std::vector<std::string>> setting_differences(const std::vector<RunHistory>& runs);

/// Returns the rows for a table, whose long values are shortened.
std::vector<std::vector<std::string>> shortened_rows(std::vector<std::vector<std::string>> rows);

}  // namespace bertpretrain
