#pragma once
// events.jsonl: what happened to a run, and when. Never truncated.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/clock.h"
#include "telemetry/line_file.h"

namespace bertpretrain {

/// Appends a line {"time": "2024-05-01T12:00:00.123Z", "event": ..., more} for each start, stop, resume, skipped update, etc.
class EventsFile {
public:
    /// @throws DataError if the file cannot be opened
    explicit EventsFile(const std::filesystem::path& file) : lines_(file) {}

    /// @param details a JSON object whose members follow "event"  @param time of the event, in seconds since 1970 UTC
    /// @throws DataError if too many lines are waiting for a disk that takes none (see LineFile)
    void append(std::string_view event, const nlohmann::ordered_json& details, double time = unix_seconds_now());
    void append(std::string_view event);

    /// From now on, calls `listener` with each line that append() writes.
    void pass_on(std::function<void(std::string_view)> listener) { listener_ = std::move(listener); }

    /// Tries to write the waiting lines. @returns whether none is left
    bool retry() { return lines_.retry(); }
    /// Writes all waiting lines. Must be the last call. @throws DataError with the number of lines that could not be written
    void finish() { lines_.finish(); }

private:
    LineFile lines_;
    std::function<void(std::string_view)> listener_;
};

/// A line of events.jsonl.
struct RunEvent {
    double time = 0;              ///< seconds since 1970 UTC
    std::string name;             ///< "start", "resume", "stop", ...
    double elapsed_seconds = -1;  ///< since the latest start or resume, by a monotonic clock; -1 if the line has none
    std::int64_t step = 0;
    std::int64_t ranks = 0;              ///< in a start or resume; 0 if the line has none
    std::int64_t samples_per_epoch = 0;  ///< likewise
    /// Likewise (train/audit/run_sessions.h); may be empty.
    std::string settings, computed_by, sums;
    std::string held_out;         ///< in a start or resume: the fingerprint of the held-out rows (batches/evaluation_batches.h)
    std::int64_t lost_steps = 0;  ///< in "lost", which follows a resume: number of steps to repeat
    double lost_until = 0;        ///< end time of the last of them, in seconds since 1970 UTC
    double lost_until_elapsed = -1;  ///< the same as elapsed_seconds, counted from the start that ran them
};

/// Returns all events of a run in order. The file may still be written to. Skips lines that cannot be parsed, and lines with
/// impossible numbers: negative steps, times before 1970 or after the year 5000, more than a million ranks.
/// @throws DataError if the file cannot be read
std::vector<RunEvent> read_events(const std::filesystem::path& file);

}  // namespace bertpretrain
