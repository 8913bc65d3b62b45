#pragma once
// What an accelerator costs per hour, for each of several runs or kinds of accelerators.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/money.h"
#include "reports/run_history.h"

namespace bertpretrain {

/// Prices of an accelerator per hour.
class HourlyPrices {
public:
    /// @param texts "2.50", "2.50EUR", or "NAME=2.50EUR" for one run, by its name or folder, or for one kind of accelerator
    /// @throws ConfigError naming --price and the text
    static HourlyPrices parse(const std::vector<std::string>& texts);

    bool empty() const { return !of_all_ && of_name_.empty(); }
    /// Returns the run's own price, else the one for all runs, else nullopt.
    std::optional<Money> of(const RunHistory& run) const;
    std::optional<Money> of(const std::string& accelerator) const;
    /// Returns what a part of the run cost; nullopt without a price.
    std::optional<Money> cost_of(const RunHistory& run, const Spent& spent) const;
    /// @throws ConfigError if a price is for a run that is not in `runs`
    void require_runs(const std::vector<RunHistory>& runs) const;
    /// @throws ConfigError if a price is for an accelerator that is not in `names`
    void require_accelerators(const std::vector<std::string>& names) const;

private:
    std::optional<Money> of_all_;
    std::map<std::string, Money> of_name_;
};

}  // namespace bertpretrain
