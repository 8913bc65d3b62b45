#include "config/field.h"

#include <charconv>

#include "core/strings.h"

namespace bertpretrain {
namespace {

std::string shortest(double number) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

}  // namespace

std::string Rule::text() const {
    if (!choices.empty()) {
        std::vector<std::string> quoted;
        for (const std::string_view choice : choices) quoted.push_back("\"" + std::string(choice) + "\"");
        return "one of " + join(quoted);
    }
    const bool has_low = low != -std::numeric_limits<double>::infinity();
    const bool has_high = high != std::numeric_limits<double>::infinity();
    if (has_low && has_high) return "between " + shortest(low) + " and " + shortest(high);
    if (has_low) return (low_excluded ? "> " : ">= ") + shortest(low);
    if (has_high) return "<= " + shortest(high);
    return "";
}

}  // namespace bertpretrain
