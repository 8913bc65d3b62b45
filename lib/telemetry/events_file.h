#pragma once
// events.jsonl: what happened to a run and when; it is never cut.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/clock.h"
#include "telemetry/line_file.h"

namespace bertpretrain {

/// Appends a line {"time": "2024-05-01T12:00:00.123Z", "event": ..., more} per start, stop, resume, skipped update.
class EventsFile {
public:
    /// @throws DataError when the file cannot be opened
    explicit EventsFile(const std::filesystem::path& file) : lines_(file) {}

    /// @param details an object whose members follow "event" @param time when it happened, in seconds since 1970 UTC
    /// @throws DataError when the line cannot be written
    void append(std::string_view event, const nlohmann::ordered_json& details, double time = unix_seconds_now());
    void append(std::string_view event);

    /// The last call: no line is waiting after it. @throws DataError naming how many lines could not be written
    void finish() { lines_.finish(); }

private:
    LineFile lines_;
};

/// A line of events.jsonl.
struct RunEvent {
    double time = 0;              ///< seconds since 1970 UTC
    std::string name;             ///< "start", "resume", "stop", ...
    double elapsed_seconds = -1;  ///< since that start of the run, by a clock that is never set; -1 where the line does not tell
    std::int64_t step = 0;
    std::int64_t ranks = 0;              ///< of a start or resume; 0 where the line does not tell
    std::int64_t samples_per_epoch = 0;  ///< likewise
    std::int64_t lost_steps = 0;         ///< of "lost", which follows a resume: steps that are done again
    double lost_until = 0;               ///< when the last of them had ended
    double lost_until_elapsed = -1;      ///< likewise, as elapsed_seconds of the start that took them
};

/// All events of a run in order, those of a file that is being written too; lines that cannot be understood, or whose
/// numbers cannot be, are left out: negative steps, times before 1970 or beyond the year 5000, more than a million ranks.
/// @throws DataError when the file cannot be read
std::vector<RunEvent> read_events(const std::filesystem::path& file);

}  // namespace bertpretrain
