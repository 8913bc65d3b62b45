#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

struct Money {
    double amount = 0;
    std::string currency = "USD";
};

/// Reads "500", "2.50EUR". Returns nullopt unless the text is a positive number, directly followed by letters or by nothing.
std::optional<Money> read_money(std::string_view text);

}  // namespace bertpretrain
