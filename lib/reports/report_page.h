#pragma once
// The page of `bertpretrain report`.

#include <optional>
#include <string>
#include <vector>

#include "reports/run_history.h"
#include "reports/target.h"

namespace bertpretrain {

struct ReportChoices {
    std::optional<Target> target{};
    std::optional<double> price{};  ///< of an accelerator for an hour
    bool scaling = false;
};

/// A row per run: ranks, steps, losses, rate, hours, restarts, utilisation.
std::vector<std::vector<std::string>> summary_rows(const std::vector<RunHistory>& runs);

/// One HTML page that needs no other file and no network: what each run came to, what kept it from computing, and all charts.
/// Light or dark as the reader's screen prefers.
std::string report_page(const std::vector<RunHistory>& runs, const ReportChoices& choices);

}  // namespace bertpretrain
