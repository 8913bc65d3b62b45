#pragma once
// metrics.jsonl: one line of JSON per optimizer step and per evaluation.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "telemetry/line_file.h"
#include "telemetry/loss_history.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// The steps that a resumed run repeats.
struct CutSteps {
    std::int64_t steps = 0;      ///< number of step lines removed
    double time = 0;             ///< of the last of them
    double elapsed_seconds = 0;  ///< of the last of them
};

/// Writes a run's metrics. Reading a number back gives exactly the same float64. A non-finite number is written as null, and
/// its line then contains "non_finite": true. Each line ends with its chain value (metrics_chain.h). Not thread-safe.
class MetricsFile {
public:
    /// Opens or creates the file, and removes an incomplete last line. @throws DataError
    explicit MetricsFile(const std::filesystem::path& file) : lines_(std::in_place, file) {}

    /// @throws DataError if too many lines are waiting for a disk that takes none (see LineFile)
    void append(const StepRecord& record);
    void append(const EvaluationRecord& record);

    /// From now on, calls `listener` with each line that append() writes.
    void pass_on(std::function<void(std::string_view)> listener) { listener_ = std::move(listener); }

    /// Atomically removes what a resumed run will repeat: steps after `step`, evaluations after step `evaluated`, and damaged
    /// lines. Holds one line in memory at a time. The chain continues after the last line that remains; where a damaged line was
    /// removed from between two others, verify_chain() still reports that a line is missing.
    /// @param kept receives the remaining records  @throws DataError if the file cannot be read or replaced
    CutSteps cut_to_step(std::int64_t step, std::int64_t evaluated, LossHistory& kept);

    /// Tries to write the waiting lines. @returns whether none is left
    bool retry() { return lines_->retry(); }
    /// Writes all waiting lines. Must be the last call. @throws DataError with the number of lines that could not be written
    void finish() { lines_->finish(); }

private:
    /// @param line without its chain value
    void append(const std::string& line);

    std::optional<LineFile> lines_;
    std::optional<std::string> chain_;  ///< value of the last line; nullopt: the file's lines have not been read yet
    std::function<void(std::string_view)> listener_;
};

struct Metrics {
    std::vector<StepRecord> steps;
    std::vector<EvaluationRecord> evaluations;
};

/// Calls visit_step or visit_evaluation with each record in file order. Holds one line in memory at a time. The file may still
/// be written to. Skips, with one warning, lines that cannot be parsed, and lines with impossible numbers: negative steps,
/// samples, durations or times, or times after the year 5000. Returns non-finite numbers as NaN.
/// @throws DataError if the file cannot be read
void for_each_record(const std::filesystem::path& file, const std::function<void(const StepRecord&)>& visit_step,
                     const std::function<void(const EvaluationRecord&)>& visit_evaluation);

/// Returns all records of a file, as for_each_record() visits them.
Metrics read_metrics(const std::filesystem::path& file);

/// Returns the losses of a file, as for_each_record() visits them.
LossHistory read_losses(const std::filesystem::path& file);

}  // namespace bertpretrain
