#pragma once
// What a person sees while a run goes.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/progress_output.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// `step 120/2000 | loss 6.1234 | mlm 5.4321 | nsp 0.6912 | lr 1.00e-03 | 123.4 seq/s | eta 3m 12s`. Scripts may rely on it.
std::string step_line(const StepRecord& record, std::int64_t total_steps, double eta_seconds);

/// `held-out step 100 | mlm 5.1000 | accuracy 0.2130 | perplexity 164.2 | nsp 0.6900`. Scripts may rely on it.
std::string evaluation_line(const EvaluationRecord& record);

/// On a terminal one line that is drawn over and over, elsewhere plain lines (see step_line()): the first and last step, and
/// between them at most one per interval. Not thread-safe.
class Progress {
public:
    /// @param interval_seconds between plain lines
    Progress(std::int64_t total_steps, double interval_seconds, ProgressOutput output = progress_to_stderr());
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    void show(const StepRecord& record);
    void show(const EvaluationRecord& record);
    /// Takes the drawn line away, so that other messages do not run into it; the next step draws it anew.
    void clear();

private:
    double eta_seconds(const StepRecord& record);
    std::string drawn_line(const StepRecord& record, double eta) const;

    std::int64_t total_steps_;
    double interval_seconds_;
    ProgressOutput output_;
    std::deque<double> last_step_seconds_;
    std::optional<double> last_shown_;
    bool is_drawn_ = false;
};

}  // namespace bertpretrain
