#pragma once

#include <optional>
#include <string>

#include "core/output/progress_output.h"

namespace bertpretrain {

/// Progress display: one line with a bar that is redrawn in place on a terminal; elsewhere a log line every five seconds.
class ProgressLine {
public:
    explicit ProgressLine(ProgressOutput output = progress_to_stderr());
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();  ///< erases the drawn line

    /// Whether to call show() again: 0.1 s after the last call on a terminal, 5 s elsewhere.
    bool is_due() const;
    /// Seconds since construction.
    double seconds() const { return output_.seconds() - start_; }
    /// @param share fraction of the work that is done, 0 to 1, if known
    void show(const std::string& text, std::optional<double> share);

private:
    ProgressOutput output_;
    double start_, shown_;
    bool is_drawn_ = false;
};

}  // namespace bertpretrain
