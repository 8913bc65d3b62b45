#include "reports/hourly_prices.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

HourlyPrice price_of(const std::string& text, const std::string& whole) {
    HourlyPrice price;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), price.per_hour);
    const std::string currency(end, text.data() + text.size());
    const bool is_name =
        std::all_of(currency.begin(), currency.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
    if (failure != std::errc() || !(price.per_hour > 0) || !std::isfinite(price.per_hour) || !is_name)
        throw ConfigError(
            concat("--price ", whole, ": expected a price per hour, such as 2.50 or 2.50EUR, or RUN=2.50EUR for one run"));
    if (!currency.empty()) price.currency = currency;
    return price;
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
        else prices.of_run_[text.substr(0, equals)] = price_of(text.substr(equals + 1), text);
    }
    return prices;
}

std::optional<HourlyPrice> HourlyPrices::of(const RunHistory& run) const {
    for (const auto& [name, price] : of_run_)
        if (is_named(run, name)) return price;
    return of_all_;
}

void HourlyPrices::require_runs(const std::vector<RunHistory>& runs) const {
    std::vector<std::string> names;
    for (const RunHistory& run : runs) names.push_back(run.name);
    for (const auto& [name, price] : of_run_)
        if (std::none_of(runs.begin(), runs.end(), [&](const RunHistory& run) { return is_named(run, name); }))
            throw ConfigError(concat("--price ", name, "=...: no such run; the runs are: ", join(names)));
}

}  // namespace bertpretrain
