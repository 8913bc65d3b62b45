#include "train/run_limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

RunLimits RunLimits::parse(const std::string& deadline, const std::string& budget, const std::optional<double>& price) {
    RunLimits limits;
    limits.price_per_hour = price;
    if (!deadline.empty()) {
        limits.seconds = duration_seconds(deadline);
        if (!limits.seconds)
            throw ConfigError(concat("--deadline ", deadline, ": expected a number of hours, such as 20h; also 90m, 3d"));
    }
    if (budget.empty()) return limits;
    double amount = 0;
    const auto [end, failure] = std::from_chars(budget.data(), budget.data() + budget.size(), amount);
    const std::string currency(end, budget.data() + budget.size());
    if (failure != std::errc() || !(amount > 0) || !std::isfinite(amount) ||
        !std::all_of(currency.begin(), currency.end(), is_letter))
        throw ConfigError(concat("--budget ", budget, ": expected an amount of money, such as 500USD"));
    if (!price)
        throw ConfigError(concat("--budget ", budget, ": needs the price of an accelerator per hour\n  do: add --price 2.50"));
    limits.budget = amount;
    if (!currency.empty()) limits.currency = currency;
    return limits;
}

}  // namespace bertpretrain
