#include "train/run_records.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "telemetry/loss_picture.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_lines = 10;

}  // namespace

RunRecords::Files::Files(const RunPaths& paths, std::int64_t total_steps)
    : metrics(paths.metrics()), events(paths.events()), progress(total_steps, seconds_between_lines) {}

RunRecords::RunRecords(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy, bool keeps)
    : paths_(folder.paths()), total_steps_(total_steps), unigram_cross_entropy_(unigram_cross_entropy) {
    if (keeps) files_.emplace(paths_, total_steps);
}

void RunRecords::cut_to_step(std::int64_t step, std::int64_t evaluated) {
    if (files_) files_->metrics.cut_to_step(step, evaluated);
}

void RunRecords::add(const StepRecord& record) {
    if (!files_) return;
    files_->metrics.append(record);
    files_->progress.show(record);
}

void RunRecords::add(const EvaluationRecord& record) {
    if (!files_) return;
    files_->metrics.append(record);
    files_->progress.show(record);
    draw_losses();
}

void RunRecords::event(std::string_view name, const nlohmann::ordered_json& details) {
    if (files_) files_->events.append(name, details);
}

void RunRecords::clear_progress() {
    if (files_) files_->progress.clear();
}

void RunRecords::draw_losses() const {
    if (!files_) return;
    const Metrics metrics = read_metrics(paths_.metrics());
    if (metrics.steps.empty()) return;
    LossPictureOptions options;
    options.unigram_loss = unigram_cross_entropy_;
    options.smoothing_steps = std::max<std::int64_t>(1, total_steps_ / 100);
    write_atomically(paths_.loss_picture(), loss_picture(metrics, options));
}

}  // namespace bertpretrain
