#pragma once
// TensorBoard's event files, which `tensorboard --logdir` and many other tools read.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/step_record.h"

namespace bertpretrain {

/// Writes scalars: of a step as train/KEY, of an evaluation as held_out/KEY, KEY as in metrics.jsonl. A file per start, made
/// with the first record; each record is handed to the system before append() returns. A run does not end because its pictures
/// cannot be written: there is one warning then, and no more records.
/// Format: TFRecord (length, its masked CRC-32C, content, its masked CRC-32C) of tensorflow.Event messages.
class TensorboardFile {
public:
    explicit TensorboardFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// What earlier starts wrote of later steps than `step` is not shown any more: it will be done again.
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
    bool is_broken_ = false;
};

}  // namespace bertpretrain
