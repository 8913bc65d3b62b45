#pragma once
// The figures of `bertpretrain report` for programs.

#include <vector>

#include <nlohmann/json.hpp>

#include "reports/report_page.h"
#include "reports/run_history.h"

namespace bertpretrain {

/// Returns {"runs": [...]}: per run its name, folder, ranks, steps, how it ended if it did not finish (exit), losses, rates,
/// seconds and restarts, the settings in which it differs from another run, and, where a target was asked for, when it was
/// reached (null: never), what that cost and whether the run measured it.
nlohmann::ordered_json report_json(const std::vector<RunHistory>& runs, const ReportChoices& choices);

}  // namespace bertpretrain
