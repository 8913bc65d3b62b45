#pragma once
// devices.jsonl: what the ranks' devices and hosts reported about themselves, once a minute. Never truncated.

#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "telemetry/device_reading.h"
#include "telemetry/line_file.h"

namespace bertpretrain {

/// Appends a line {"step", "time", "elapsed_seconds", "host", "devices": [{"rank", "device", numbers}]} per host. Numbers that
/// could not be read are absent. This is not part of metrics.jsonl, because a resumed run removes from there the steps that it
/// repeats: what the hardware did before a crash must stay. Not thread-safe.
class DevicesFile {
public:
    /// @throws DataError if the file cannot be opened
    explicit DevicesFile(const std::filesystem::path& file) : lines_(file) {}

    /// @param record ranks of one host are consecutive or not; lines are in the order of their first ranks
    /// @throws DataError if too many lines are waiting for a disk that takes none (see LineFile)
    void append(const DevicesRecord& record);

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

}  // namespace bertpretrain
