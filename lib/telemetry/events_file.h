#pragma once
// events.jsonl: what happened to a run and when; it is never cut.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "telemetry/line_file.h"

namespace bertpretrain {

/// Appends a line {"time": "2024-05-01T12:00:00.123Z", "event": ..., more} per start, stop, resume, skipped update.
class EventsFile {
public:
    /// @throws DataError when the file cannot be opened
    explicit EventsFile(const std::filesystem::path& file) : lines_(file) {}

    /// @param details an object whose members follow "event"
    /// @throws DataError when the line cannot be written
    void append(std::string_view event, const nlohmann::ordered_json& details);
    void append(std::string_view event);

private:
    LineFile lines_;
};

/// A line of events.jsonl.
struct RunEvent {
    double time = 0;   ///< seconds since 1970 UTC
    std::string name;  ///< "start", "resume", "stop", ...
    std::int64_t step = 0;
    std::int64_t ranks = 0;              ///< of a start or resume; 0 where the line does not tell
    std::int64_t samples_per_epoch = 0;  ///< likewise
    std::int64_t lost_steps = 0;         ///< of "lost", which follows a resume: steps that are done again
    double lost_until = 0;               ///< when the last of them had ended
};

/// All events of a run in order, those of a file that is being written too; lines that cannot be understood are left out.
/// @throws DataError when the file cannot be read
std::vector<RunEvent> read_events(const std::filesystem::path& file);

}  // namespace bertpretrain
