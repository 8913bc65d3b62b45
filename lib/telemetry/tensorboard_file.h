#pragma once
// Writes TensorBoard event files, for `tensorboard --logdir` and other tools.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/step_record.h"

namespace bertpretrain {

/// Writes scalars: train/KEY for a step, sources/NAME/KEY for its sources, held_out/KEY and sources/NAME/held_out_mlm_loss for an
/// evaluation, with KEY as in metrics.jsonl. Each start of a run creates a file at its first record. Each record is passed to the
/// kernel before append() returns. If writing fails, it logs one warning, and begins another file a minute later; the run
/// continues. Format: TFRecord (length, its masked CRC-32C, content, its masked CRC-32C) of tensorflow.Event messages.
class TensorboardFile {
public:
    explicit TensorboardFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Makes TensorBoard hide what earlier starts wrote for steps after `step`, because the run repeats them.
    void cut_to_step(std::int64_t step) { cut_to_ = step; }
    void append(const StepRecord& record);
    void append(const EvaluationRecord& record);

private:
    void open(double time);
    void write_event(double time, std::int64_t step, const std::string& content);
    void write_scalars(double time, std::int64_t step, const std::vector<std::pair<std::string, double>>& scalars);

    std::filesystem::path folder_;
    std::ofstream out_;
    std::int64_t cut_to_ = -1;
    std::optional<double> failed_at_;
    bool has_warned_ = false;
};

}  // namespace bertpretrain
