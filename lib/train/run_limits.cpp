#include "train/run_limits.h"

#include "core/error.h"
#include "core/money.h"
#include "core/strings.h"

namespace bertpretrain {
RunLimits RunLimits::parse(const std::string& deadline, const std::string& budget, const std::optional<double>& price) {
    RunLimits limits;
    limits.price_per_hour = price;
    if (!deadline.empty()) {
        limits.seconds = duration_seconds(deadline);
        if (!limits.seconds)
            throw ConfigError(concat("--deadline ", deadline, ": expected a number of hours, such as 20h; also 90m, 3d"));
    }
    if (budget.empty()) return limits;
    const std::optional<Money> money = read_money(budget);
    if (!money) throw ConfigError(concat("--budget ", budget, ": expected an amount of money, such as 500USD"));
    if (!price)
        throw ConfigError(concat("--budget ", budget, ": needs the price of an accelerator per hour\n  do: add --price 2.50"));
    limits.budget = money->amount;
    limits.currency = money->currency;
    return limits;
}

}  // namespace bertpretrain
