#pragma once
// The progress line of `bertpretrain_data shard`.

#include <cstdint>
#include <mutex>

#include "core/output/progress_line.h"

namespace bertpretrain {

/// Shows the finished share, MB of text per second and the remaining time. Several threads may call advance().
class BuildProgress {
public:
    explicit BuildProgress(ProgressOutput output = progress_to_stderr()) : line_(std::move(output)) {}

    /// @param bytes total amount of text to process
    void begin(std::uint64_t bytes);
    void advance(double bytes);
    double total() const { return total_; }
    /// Returns the time since construction.
    double seconds() const { return line_.seconds(); }

private:
    ProgressLine line_;
    std::mutex guard_;
    double total_ = 0, done_ = 0;
};

}  // namespace bertpretrain
