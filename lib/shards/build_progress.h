#pragma once

#include <chrono>
#include <mutex>

namespace bertpretrain {

/// Says in the log, every ten seconds, how far a build is and how long it will take. Several threads may advance it.
class BuildProgress {
public:
    /// @param bytes of text that are to be worked on
    void begin(double bytes);
    void advance(double bytes);
    double total() const { return total_; }
    /// Since this was made.
    double seconds() const;

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point start_ = Clock::now(), last_line_ = start_;
    std::mutex guard_;
    double total_ = 0, done_ = 0;
};

}  // namespace bertpretrain
