#pragma once
// Where progress is displayed.

#include <cstddef>
#include <functional>
#include <string_view>

namespace bertpretrain {

/// An output for progress, and the clock that goes with it.
struct ProgressOutput {
    bool is_terminal = false;
    std::size_t columns = 80;                    ///< width of the terminal
    std::function<void(std::string_view)> say;   ///< prints a whole line
    std::function<void(std::string_view)> draw;  ///< writes raw text to the terminal
    std::function<double()> seconds;             ///< a monotonic clock
};

/// Returns an output to standard error; whole lines go through the log.
ProgressOutput progress_to_stderr();

/// Terminal codes that erase the current line.
inline constexpr const char* clear_line = "\r\x1b[K";

}  // namespace bertpretrain
