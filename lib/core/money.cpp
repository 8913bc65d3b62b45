#include "core/money.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bertpretrain {

std::optional<Money> read_money(std::string_view text) {
    Money money;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), money.amount);
    const std::string currency(end, text.data() + text.size());
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    if (failure != std::errc() || !(money.amount > 0) || !std::isfinite(money.amount) ||
        !std::all_of(currency.begin(), currency.end(), is_letter))
        return std::nullopt;
    if (!currency.empty()) money.currency = currency;
    return money;
}

}  // namespace bertpretrain
