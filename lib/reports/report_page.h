#pragma once
// The HTML page of `bertpretrain report`.

#include <optional>
#include <string>
#include <vector>

#include "reports/reference_curve.h"
#include "reports/run_history.h"
#include "reports/target.h"

namespace bertpretrain {

struct ReportChoices {
    std::optional<Target> target{};
    HourlyPrices prices{};
    bool scaling = false;
    std::vector<ReferenceCurve> references{};  ///< published curves to draw beside the runs'
};

/// Returns a header row, then a row per run: ranks, steps, losses (the lowest held-out one of several runs is marked), rate,
/// durations, restarts, time computing, and the cost where there are prices.
std::vector<std::vector<std::string>> summary_rows(const std::vector<RunHistory>& runs, const HourlyPrices& prices = {});

/// Returns a self-contained HTML page that needs no network: a summary of each run, causes of low utilisation, and all charts.
/// Follows the browser's preference for light or dark colors.
std::string report_page(const std::vector<RunHistory>& runs, const ReportChoices& choices);

}  // namespace bertpretrain
