#pragma once
// Shows the progress of a run.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/output/progress_output.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// Returns `step 120/2000 | loss 6.1234 | mlm 5.4321 | nsp 0.6912 | lr 1.00e-03 | 123.4 seq/s | eta 3m 12s`. The format is
/// stable, so scripts may parse it.
std::string step_line(const StepRecord& record, std::int64_t total_steps, double eta_seconds);

/// Returns `held-out step 100 | mlm 5.1000 | accuracy 0.2130 | perplexity 164.2 | nsp 0.6900`. The format is stable.
std::string evaluation_line(const EvaluationRecord& record);

/// On a terminal, redraws one line in place. Elsewhere prints plain lines (see step_line()): for the first and last step, and
/// between them at most one per interval. Not thread-safe.
class Progress {
public:
    /// Returns how many steps as large as `step` the rest of the run takes.
    using StepsLeft = std::function<double(std::int64_t step)>;

    /// @param interval_seconds minimum time between plain lines
    /// @param steps_left empty: all steps are equally large
    Progress(std::int64_t total_steps, double interval_seconds, ProgressOutput output = progress_to_stderr(),
             StepsLeft steps_left = {});
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    void show(const StepRecord& record);
    void show(const EvaluationRecord& record);
    /// Erases the drawn line, so that other messages do not run into it. The next step draws it again.
    void clear();

private:
    double eta_seconds(const StepRecord& record);
    std::string drawn_line(const StepRecord& record, double eta) const;

    std::int64_t total_steps_;
    StepsLeft steps_left_;
    double interval_seconds_;
    ProgressOutput output_;
    std::deque<double> last_step_seconds_;
    std::optional<double> last_shown_;
    bool is_drawn_ = false;
};

}  // namespace bertpretrain
