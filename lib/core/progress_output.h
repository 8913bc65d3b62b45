#pragma once
// Where a program tells people how far it is.

#include <cstddef>
#include <functional>
#include <string_view>

namespace bertpretrain {

/// Where progress goes, and its clock.
struct ProgressOutput {
    bool is_terminal = false;
    std::size_t columns = 80;                    ///< of the terminal
    std::function<void(std::string_view)> say;   ///< takes a whole line
    std::function<void(std::string_view)> draw;  ///< takes raw text for the terminal
    std::function<double()> seconds;             ///< a clock that never goes back
};

/// Standard error, whole lines through the log.
ProgressOutput progress_to_stderr();

/// Takes the drawn line away.
inline constexpr const char* clear_line = "\r\x1b[K";

}  // namespace bertpretrain
