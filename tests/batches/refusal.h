#pragma once
// Messages of exceptions, in a form that Catch2 2 and 3 both compare.

#include <string>

namespace bertpretrain::testing {

/// Returns the message of the `Expected` that `action` throws; "" if it throws none.
template <class Expected, class Action>
std::string refusal_of(const Action& action) {
    try {
        action();
    } catch (const Expected& error) { return error.what(); }
    return {};
}

/// Returns `message` if it lacks one of `parts`, else "": CHECK(missing_in(...).empty()) then prints the message.
template <class... Parts>
std::string missing_in(const std::string& message, const Parts&... parts) {
    const bool has_all = (... && (message.find(parts) != std::string::npos));
    return has_all ? std::string() : "\"" + message + "\" lacks one of the parts";
}

}  // namespace bertpretrain::testing
