#pragma once
// events.jsonl: what happened to a run and when; it is never cut.

#include <string_view>

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

}  // namespace bertpretrain
