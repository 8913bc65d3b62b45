#pragma once
// Cloud prices of accelerators. They are data: lib/operations/prices.json, which the build embeds in the program.

#include <optional>
#include <string>

namespace bertpretrain {

struct Price {
    double per_hour = 0;         ///< of one accelerator
    std::string currency, date;  ///< such as "USD" and "2024"
    std::string source;          ///< who offers what, for printing
};

/// Returns the price of an accelerator by its name in fabric.h, or nothing where the file has none.
std::optional<Price> known_price(const std::string& accelerator);

}  // namespace bertpretrain
