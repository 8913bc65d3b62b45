#pragma once

#include <optional>
#include <string>

#include "core/progress_output.h"

namespace bertpretrain {

/// On a terminal one line that is drawn over and over, with a bar; elsewhere a line of the log every few seconds.
class ProgressLine {
public:
    explicit ProgressLine(ProgressOutput output = progress_to_stderr());
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();  ///< takes the line away

    /// Whether enough time has passed since the last line.
    bool is_due() const;
    /// Since this was made.
    double seconds() const { return output_.seconds() - start_; }
    /// @param share of the work that is done, where it is known
    void show(const std::string& text, std::optional<double> share);

private:
    ProgressOutput output_;
    double start_, shown_;
    bool is_drawn_ = false;
};

}  // namespace bertpretrain
