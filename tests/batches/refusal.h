#pragma once
// What a refusal says, in a form that Catch2 2 and 3 both compare.

#include <string>

namespace bertpretrain::testing {

/// The message of the `Expected` that `action` throws; empty when it throws none.
template <class Expected, class Action>
std::string refusal_of(const Action& action) {
    try {
        action();
    } catch (const Expected& error) { return error.what(); }
    return {};
}

/// `message` when it lacks one of `parts`, else nothing: CHECK(missing_in(...).empty()) prints what was said instead.
template <class... Parts>
std::string missing_in(const std::string& message, const Parts&... parts) {
    const bool has_all = (... && (message.find(parts) != std::string::npos));
    return has_all ? std::string() : "\"" + message + "\" lacks one of the parts";
}

}  // namespace bertpretrain::testing
