#pragma once
// The time and money that a run may take.

#include <optional>
#include <string>

namespace bertpretrain {

/// The options --deadline, --budget and --price of `train`. All of them count the whole run: every start of it, without the time
/// between a start's last record and the next start.
struct RunLimits {
    std::optional<double> seconds;         ///< of the run
    std::optional<double> budget;          ///< in `currency`
    std::optional<double> price_per_hour;  ///< of one accelerator (one rank), in `currency`
    std::string currency = "USD";

    bool any() const { return seconds || budget || price_per_hour; }

    /// @param deadline such as "20h"; empty: none  @param budget such as "500USD"; empty: none
    /// @throws ConfigError naming the option, if a text cannot be read or there is a budget without a price
    static RunLimits parse(const std::string& deadline, const std::string& budget, const std::optional<double>& price);
};

}  // namespace bertpretrain
