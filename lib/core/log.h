#pragma once
// Words for people, on standard error and in a run's log.txt; results go to standard output instead.
//
// Logging does not block: a message that an output does not take within a moment is written later by another thread, and
// dropped and counted where too many wait (line_writer.h). Control characters but "\n" and "\t", and bytes that are not UTF-8,
// are shown as "\xNN".

#include <filesystem>
#include <string_view>

namespace bertpretrain {

void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

/// From now on every message is appended to `file` too, with its time. @throws ConfigError when it cannot be opened
void log_also_to(const std::filesystem::path& file);

/// Raw text for the terminal, on standard error only; left out while that takes nothing.
void log_drawing(std::string_view text);

/// Waits until all messages are written, for so many seconds at most: for the end of a process, which would lose the others.
void flush_log(double seconds);

}  // namespace bertpretrain
