#pragma once
// metrics.jsonl: one line of JSON per optimizer step, and one per evaluation.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "telemetry/line_file.h"
#include "telemetry/loss_history.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// What a resumed run does again.
struct CutSteps {
    std::int64_t steps = 0;  ///< lines of steps that were taken away
    double time = 0;         ///< of the last of them
    double elapsed_seconds = 0;
};

/// The metrics of a run, written as it goes. Numbers are written so that reading gives the same float64 again. A number that
/// is not finite stands as null, and its line then carries "non_finite": true.
class MetricsFile {
public:
    /// Opens or makes the file; a torn last line is cut off. @throws DataError
    explicit MetricsFile(const std::filesystem::path& file) : lines_(std::in_place, file) {}

    /// @throws DataError when the line cannot be written
    void append(const StepRecord& record);
    void append(const EvaluationRecord& record);

    /// Takes away, at once or not at all, what a resumed run will do again: steps after `step`, evaluations after step
    /// `evaluated`, and damaged lines. Reads line by line.
    /// @param kept gets the records that stay @throws DataError
    CutSteps cut_to_step(std::int64_t step, std::int64_t evaluated, LossHistory& kept);

    /// The last call: no line is waiting after it. @throws DataError naming how many lines could not be written
    void finish() { lines_->finish(); }

private:
    std::optional<LineFile> lines_;
};

struct Metrics {
    std::vector<StepRecord> steps;
    std::vector<EvaluationRecord> evaluations;
};

/// Calls visit with each record in the order of the file, also of one that is being written, and holds one line at a time. Lines
/// that cannot be understood are left out with one warning, as are those whose steps, samples, durations or times cannot be:
/// negative ones, or times beyond the year 5000. A number that was not finite comes back as NaN.
/// @throws DataError when the file cannot be read
void for_each_record(const std::filesystem::path& file, const std::function<void(const StepRecord&)>& visit_step,
                     const std::function<void(const EvaluationRecord&)>& visit_evaluation);

/// All records of a file, as for_each_record() finds them.
Metrics read_metrics(const std::filesystem::path& file);

/// The losses of a file, as for_each_record() finds them.
LossHistory read_losses(const std::filesystem::path& file);

}  // namespace bertpretrain
