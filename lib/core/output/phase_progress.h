#pragma once

#include <mutex>
#include <string>

#include "core/output/progress_line.h"

namespace bertpretrain {

/// Progress display of one phase of a command, whose amount of work is known: `comparing documents | 42.1 % | eta 12s`.
/// Thread-safe.
class PhaseProgress {
public:
    /// @param phase what is done, such as "comparing documents"
    /// @param total the amount of work, in any unit; 0: not known, as of a pipe
    PhaseProgress(std::string phase, double total, ProgressOutput output = progress_to_stderr());

    /// Adds to the work that is done.
    void advance(double amount = 1);

private:
    std::string phase_;
    double total_, done_ = 0;
    ProgressLine line_;
    std::mutex guard_;
};

}  // namespace bertpretrain
