#pragma once
// What a person sees while shards are made.

#include <cstdint>
#include <mutex>

#include "core/progress_line.h"

namespace bertpretrain {

/// The share that is done, MB of text per second and the time left. Several threads may advance it.
class BuildProgress {
public:
    explicit BuildProgress(ProgressOutput output = progress_to_stderr()) : line_(std::move(output)) {}

    /// @param bytes of text that are to be worked on
    void begin(std::uint64_t bytes);
    void advance(double bytes);
    double total() const { return total_; }
    /// Since this was made.
    double seconds() const { return line_.seconds(); }

private:
    ProgressLine line_;
    std::mutex guard_;
    double total_ = 0, done_ = 0;
};

}  // namespace bertpretrain
