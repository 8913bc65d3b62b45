#pragma once
// Log messages for people, on standard error and in a run's log.txt. Results go to standard output instead.
//
// Logging does not block: a message that an output does not accept within 0.1 s is written later by another thread. Messages are
// dropped and counted when too many are waiting (line_writer.h). Control characters other than "\n" and "\t", and bytes that are
// not UTF-8, are shown as "\xNN".

#include <filesystem>
#include <string_view>

namespace bertpretrain {

void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

enum class LogLevel { info, warning, error };

/// Messages below `level`, and drawings unless it is info, no longer go to standard error. Log files still get all messages.
void set_log_level(LogLevel level);

/// Also appends every later message to `file`, with a timestamp, and none to the file of an earlier call. @throws ConfigError
/// when the file cannot be opened
void log_also_to(const std::filesystem::path& file);

/// Writes raw terminal text, such as a progress bar, to standard error only. Dropped while standard error is stalled.
void log_drawing(std::string_view text);

/// Blocks until all messages are written, for at most `seconds`. Call it before the process ends, which loses unwritten messages.
void flush_log(double seconds);

}  // namespace bertpretrain
