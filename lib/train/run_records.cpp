#include "train/run_records.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "telemetry/loss_picture.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_lines = 10;

/// The picture is drawn from all steps so far, which takes seconds after a million of them.
constexpr double seconds_per_second_of_drawing = 100;

std::string name_of(const RunPaths& paths) { return std::filesystem::absolute(paths.folder()).filename().string(); }

}  // namespace

RunRecords::Files::Files(const RunPaths& paths, std::int64_t total_steps)
    : metrics(paths.metrics()),
      events(paths.events()),
      progress(total_steps, seconds_between_lines),
      tensorboard(paths.tensorboard()),
      prometheus(paths.prometheus(), name_of(paths), total_steps) {}

RunRecords::RunRecords(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy, bool keeps,
                       const std::string& metrics_address)
    : folder_(folder), paths_(folder.paths()), total_steps_(total_steps), unigram_cross_entropy_(unigram_cross_entropy) {
    if (!keeps) return;
    files_.emplace(paths_, total_steps);
    if (metrics_address.empty()) return;
    files_->endpoint = std::make_unique<MetricsEndpoint>(metrics_address, name_of(paths_), total_steps);
    log_info(concat("metrics           http://", metrics_address, "/metrics"));
}

void RunRecords::cut_to_step(std::int64_t step, std::int64_t evaluated) {
    if (!files_) return;
    const CutSteps cut = files_->metrics.cut_to_step(step, evaluated);
    files_->tensorboard.cut_to_step(step);
    if (cut.steps > 0) event("lost", {{"step", step}, {"lost_steps", cut.steps}, {"lost_until", cut.time}});
}

bool RunRecords::may_write(Where where) {
    if (!lost_) lost_ = folder_.lost();
    if (lost_) files_->prometheus.give_up();  // which would else write when it is destroyed
    return !lost_ || (where == Where::by_descriptor && !lost_->is_taken);
}

void RunRecords::add(StepRecord record) {
    if (!files_) return;
    record.time = unix_seconds_now();
    if (may_write(Where::by_descriptor)) files_->metrics.append(record);
    files_->progress.show(record);
    if (may_write(Where::at_path)) {
        files_->tensorboard.append(record);
        files_->prometheus.show(record);
    }
    if (files_->endpoint) files_->endpoint->show(record);
}

void RunRecords::add(EvaluationRecord record) {
    if (!files_) return;
    record.time = unix_seconds_now();
    if (may_write(Where::by_descriptor)) files_->metrics.append(record);
    files_->progress.show(record);
    if (may_write(Where::at_path)) {
        files_->tensorboard.append(record);
        files_->prometheus.show(record);
    }
    if (files_->endpoint) files_->endpoint->show(record);
    draw_losses(false);
}

void RunRecords::event(std::string_view name, const nlohmann::ordered_json& details) {
    if (files_ && may_write(Where::by_descriptor)) files_->events.append(name, details);
}

void RunRecords::clear_progress() {
    if (files_) files_->progress.clear();
}

void RunRecords::draw_losses(bool at_the_end) {
    if (!files_ || (!at_the_end && seconds_now() < next_drawing_) || !may_write(Where::at_path)) return;
    const double began = seconds_now();
    try {
        draw();
    } catch (const DataError& error) {  // a full disk, say: the next picture may succeed, and no run is lost for one
        if (!std::exchange(drawing_failed_, true)) log_warning(concat("no loss picture: ", error.what()));
    }
    next_drawing_ = seconds_now() + seconds_per_second_of_drawing * (seconds_now() - began);
}

void RunRecords::draw() const {
    const Metrics metrics = read_metrics(paths_.metrics());
    if (metrics.steps.empty()) return;
    LossPictureOptions options;
    options.unigram_loss = unigram_cross_entropy_;
    options.smoothing_steps = std::max<std::int64_t>(1, total_steps_ / 100);
    write_atomically(paths_.loss_picture(), loss_picture(metrics, options));
}

}  // namespace bertpretrain
