#include "train/records/run_records.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "train/records/record_files.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_lines = 10, seconds_between_drawings = 10;

/// Maximum number of records that wait for a disk: about 20 MB.
constexpr std::size_t most_waiting = 65'536;

}  // namespace

RunRecords::RunRecords(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy, bool keeps,
                       const std::string& metrics_address, const std::string& command, Progress::StepsLeft steps_left)
    : begin_(seconds_now()) {
    if (!keeps) return;
    files_ = std::make_shared<RecordFiles>(folder, total_steps, unigram_cross_entropy, command);
    progress_.emplace(total_steps, seconds_between_lines, progress_to_stderr(), std::move(steps_left));
    lines_.emplace(DetachedWorker::usual_farewell_seconds, most_waiting);
    pictures_.emplace(DetachedWorker::usual_farewell_seconds, most_waiting);
    if (metrics_address.empty()) return;
    endpoint_ = std::make_unique<MetricsEndpoint>(metrics_address, run_name(folder.paths()), total_steps);
    log_info(concat("metrics           ", endpoint_->url()));
}

RunRecords::~RunRecords() = default;

void RunRecords::post_lines(std::function<void(RecordFiles&)> work) {
    lines_->post([files = files_, work = std::move(work)] {
        if (files->may_write_lines()) work(*files);
    });
}

void RunRecords::post_pictures(std::function<void(RecordFiles&)> work) {
    const bool posted = pictures_->try_post([files = files_, work = std::move(work)] {
        if (files->may_write_at_path()) work(*files);
    });
    if (posted || std::exchange(pictures_are_late_, true)) return;
    log_warning(
        "a disk is too slow for the run's pictures (tensorboard/, metrics.prom, loss.svg); some are dropped, the run continues");
}

void RunRecords::cut_to_step(std::int64_t step, std::int64_t evaluated) {
    if (!files_) return;
    lines_->drain();  // nothing is posted before this function returns, so this thread may use all files
    const CutSteps cut = files_->metrics.cut_to_step(step, evaluated, files_->losses);
    files_->tensorboard.cut_to_step(step);
    if (cut.steps > 0)
        event("lost",
              {{"step", step}, {"lost_steps", cut.steps}, {"lost_until", cut.time}, {"lost_until_elapsed", cut.elapsed_seconds}});
}

void RunRecords::add_to_all(const auto& record) {
    post_lines([record](RecordFiles& files) { files.metrics.append(record); });
    progress_->show(record);
    post_pictures([record](RecordFiles& files) {
        files.losses.add(record);
        files.tensorboard.append(record);
        files.prometheus.show(record);
    });
    if (endpoint_) endpoint_->show(record);
}

void RunRecords::add(StepRecord record) {
    if (!files_) return;
    record.time = unix_seconds_now();
    record.elapsed_seconds = seconds_now() - begin_;
    add_to_all(record);
}

void RunRecords::add(EvaluationRecord record) {
    if (!files_) return;
    record.time = unix_seconds_now();
    record.elapsed_seconds = seconds_now() - begin_;
    add_to_all(record);
    draw_losses(false);
}

void RunRecords::add(DevicesRecord record) {
    if (!files_) return;
    record.time = unix_seconds_now();
    record.elapsed_seconds = seconds_now() - begin_;
    if (endpoint_) endpoint_->show(record);
    post_pictures([record](RecordFiles& files) { files.prometheus.show(record); });
    post_lines([record = std::move(record)](RecordFiles& files) { files.devices.append(record); });
}

void RunRecords::event(std::string_view name, nlohmann::ordered_json details) {
    if (!files_) return;
    details["elapsed_seconds"] = seconds_now() - begin_;
    if (name == "save") {
        const SaveRecord save{details.at("step").get<std::int64_t>(), details.at("seconds").get<double>()};
        post_pictures([save](RecordFiles& files) { files.prometheus.show(save); });
        if (endpoint_) endpoint_->show(save);
    }
    if (name == "finish" || (name == "stop" && details.contains("limit"))) {
        post_pictures([](RecordFiles& files) { files.prometheus.show_end(); });
        if (endpoint_) endpoint_->show_end();
    }
    post_lines([name = std::string(name), details = std::move(details), time = unix_seconds_now()](RecordFiles& files) {
        files.events.append(name, details, time);
    });
}

void RunRecords::clear_progress() {
    if (progress_) progress_->clear();
}

void RunRecords::draw_losses(bool at_the_end) {
    if (!files_ || (!at_the_end && seconds_now() < next_drawing_)) return;
    next_drawing_ = seconds_now() + seconds_between_drawings;
    post_pictures([](RecordFiles& files) { files.draw(); });
}

std::optional<LostFolder> RunRecords::lost_folder() const { return files_ ? files_->lost() : std::nullopt; }

std::function<void()> RunRecords::lines_written(bool required) {
    if (!files_) return [] {};
    if (!required) return lines_->drainer();
    const auto incomplete = std::make_shared<std::string>("the run's records");  // it stays so only where the queue is full
    lines_->try_post([files = files_, incomplete] { *incomplete = files->may_write_lines() ? files->retry_lines() : ""; });
    return [drain = lines_->drainer(), incomplete] {
        drain();
        if (incomplete->empty()) return;
        throw CheckpointError(concat(*incomplete, ": the last lines cannot be written and are only in memory, so a run that ",
                                     "is killed and resumes from this checkpoint would lack them\n  do: free some space"));
    };
}

void RunRecords::finish() {
    if (!files_) return;
    post_pictures([](RecordFiles& files) { files.prometheus.finish(); });
    post_lines([](RecordFiles& files) {
        files.metrics.finish();
        files.events.finish();
        files.devices.finish();
    });
    lines_->drain();
    if (!pictures_->drain_for(DetachedWorker::usual_farewell_seconds))
        log_warning("a disk is too slow for the run's pictures (tensorboard/, metrics.prom, loss.svg); they are left unfinished");
}

}  // namespace bertpretrain
