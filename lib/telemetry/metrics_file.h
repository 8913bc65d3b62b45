#pragma once
// metrics.jsonl: one line of JSON per optimizer step, and one per evaluation.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "telemetry/line_file.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// What a resumed run does again.
struct CutSteps {
    std::int64_t steps = 0;  ///< lines of steps that were taken away
    double time = 0;         ///< of the last of them
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
    /// `evaluated`, and damaged lines.
    /// @throws DataError
    CutSteps cut_to_step(std::int64_t step, std::int64_t evaluated);

private:
    std::optional<LineFile> lines_;
};

struct Metrics {
    std::vector<StepRecord> steps;
    std::vector<EvaluationRecord> evaluations;
};

/// Reads a metrics file, also one that is being written. A line that cannot be understood is left out with a warning; a number
/// that was not finite comes back as NaN.
/// @throws DataError when the file cannot be read
Metrics read_metrics(const std::filesystem::path& file);

}  // namespace bertpretrain
