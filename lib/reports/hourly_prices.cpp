#include "reports/hourly_prices.h"

#include <algorithm>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

Money price_of(const std::string& text, const std::string& whole) {
    const std::optional<Money> price = read_money(text);
    if (!price)
        throw ConfigError(concat("--price ", whole,
                                 ": expected a price per hour, such as 2.50 or 2.50EUR, or NAME=2.50EUR for one of several"));
    return *price;
}

bool is_named(const RunHistory& run, const std::string& name) {
    const auto folder = [](const std::filesystem::path& path) { return (path / "").lexically_normal(); };
    return run.name == name || folder(run.folder) == folder(name);
}

}  // namespace

HourlyPrices HourlyPrices::parse(const std::vector<std::string>& texts) {
    HourlyPrices prices;
    for (const std::string& text : texts) {
        const std::size_t equals = text.rfind('=');
        if (equals == text.npos) prices.of_all_ = price_of(text, text);
        else prices.of_name_[text.substr(0, equals)] = price_of(text.substr(equals + 1), text);
    }
    return prices;
}

std::optional<Money> HourlyPrices::of(const RunHistory& run) const {
    for (const auto& [name, price] : of_name_)
        if (is_named(run, name)) return price;
    return of_all_;
}

std::optional<Money> HourlyPrices::of(const std::string& accelerator) const {
    const auto found = of_name_.find(accelerator);
    return found == of_name_.end() ? of_all_ : found->second;
}

std::optional<Money> HourlyPrices::cost_of(const RunHistory& run, const Spent& spent) const {
    std::optional<Money> cost = of(run);
    if (cost) cost->amount *= spent.accelerator_seconds / 3600;
    return cost;
}

void HourlyPrices::require_runs(const std::vector<RunHistory>& runs) const {
    std::vector<std::string> names;
    for (const RunHistory& run : runs) names.push_back(run.name);
    for (const auto& [name, price] : of_name_)
        if (std::none_of(runs.begin(), runs.end(), [&](const RunHistory& run) { return is_named(run, name); }))
            throw ConfigError(concat("--price ", name, "=...: no such run; the runs are: ", join(names)));
}

void HourlyPrices::require_accelerators(const std::vector<std::string>& names) const {
    for (const auto& [name, price] : of_name_)
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw ConfigError(concat("--price ", name, "=...: no such accelerator; --accelerator names: ", join(names)));
}

}  // namespace bertpretrain
