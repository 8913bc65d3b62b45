#pragma once
// What an accelerator costs per hour, for each of several runs.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/run_history.h"

namespace bertpretrain {

struct HourlyPrice {
    double per_hour = 0;  ///< of one accelerator
    std::string currency = "USD";
};

class HourlyPrices {
public:
    /// @param texts "2.50", "2.50EUR", or "RUN=2.50EUR" for one run, by its name or folder
    /// @throws ConfigError naming --price and the text
    static HourlyPrices parse(const std::vector<std::string>& texts);

    bool empty() const { return !of_all_ && of_run_.empty(); }
    /// Returns the run's own price, else the one for all runs, else nullopt.
    std::optional<HourlyPrice> of(const RunHistory& run) const;
    /// @throws ConfigError if a price is for a run that is not in `runs`
    void require_runs(const std::vector<RunHistory>& runs) const;

private:
    std::optional<HourlyPrice> of_all_;
    std::map<std::string, HourlyPrice> of_run_;
};

}  // namespace bertpretrain
