#include "train/resume.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/log.h"
#include "core/strings.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

/// Null where there are no checkpoints.
std::unique_ptr<CheckpointReader> newest_whole(const CheckpointStore& store) {
    auto folders = store.all();
    if (folders.empty()) return nullptr;
    std::reverse(folders.begin(), folders.end());
    for (const auto& [step, folder] : folders) {
        try {
            return std::make_unique<CheckpointReader>(folder);
        } catch (const CheckpointError& error) {
            log_warning(concat(error.what(), "\n  this checkpoint is not used; trying the one before it"));
        }
    }
    throw CheckpointError(concat(store.folder().string(), ": all ", folders.size(),
                                 " checkpoints are damaged, as the warnings above say",
                                 "\n  do: bring an undamaged copy back, or train into another folder with --output"));
}

/// Rank 0's choice, as another rank sees it; null where it does not appear in time: that rank is then served by rank 0.
std::unique_ptr<CheckpointReader> reader_of_choice(const CheckpointStore& store, std::int64_t step,
                                                   std::chrono::milliseconds timeout) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        try {
            return std::make_unique<CheckpointReader>(store.complete_at(step), CheckpointReader::Verify::sizes);
        } catch (const CheckpointError& error) {
            if (std::chrono::steady_clock::now() < end) {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                continue;
            }
            log_warning(concat(error.what(), "\n  rank 0 has it: this host's view of the folder is out of date, or damaged; ",
                               "this rank gets its part from rank 0"));
            return nullptr;
        }
    }
}

/// Whether it was saved by a run that was asked for the same.
bool came_of(const ResumeRequest& request, const CheckpointReader& checkpoint) {
    return TrainingProgress::read(checkpoint.progress(), checkpoint.folder() / progress_file).resume == request.text();
}

/// "60 %, 40 %"
std::string share_text(const std::vector<std::int64_t>& shares) {
    std::int64_t sum = 0;
    for (const std::int64_t share : shares) sum += share;
    std::vector<std::string> texts;
    for (const std::int64_t share : shares)
        texts.push_back(concat(100 * static_cast<double>(share) / static_cast<double>(sum), " %"));
    return join(texts);
}

}  // namespace

ResumeRequest ResumeRequest::parse(const std::string& text) {
    if (text == "auto") return {Kind::automatic};
    if (text == "never") return {Kind::never};
    ResumeRequest request{Kind::step};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), request.step);
    if (failure != std::errc() || end != text.data() + text.size() || request.step < 0)
        throw ConfigError(concat("--resume ", text, ": must be auto, never or the step of a checkpoint"));
    return request;
}

std::string ResumeRequest::text() const {
    if (kind == Kind::step) return std::to_string(step);
    return kind == Kind::never ? "never" : "auto";
}

std::unique_ptr<CheckpointReader> choose_checkpoint(const CheckpointStore& store, const ResumeRequest& request) {
    if (request.again)  // an attempt before has met the request, unless it came to no checkpoint
        if (auto newest = newest_whole(store); newest && came_of(request, *newest)) return newest;
    if (request.kind == ResumeRequest::Kind::step) return std::make_unique<CheckpointReader>(store.complete_at(request.step));
    if (request.kind == ResumeRequest::Kind::automatic) return newest_whole(store);
    if (const auto folders = store.all(); !folders.empty())
        throw ConfigError(concat(store.folder().string(), ": holds checkpoints of an earlier run (newest ",
                                 folders.back().second.filename().string(),
                                 "); go on with --resume auto, or choose another --output"));
    return nullptr;
}

std::unique_ptr<ResumePoint> choose_checkpoint(ControlGroup& ranks, const CheckpointStore& store, const ResumeRequest& request,
                                               bool sees_store, std::chrono::milliseconds timeout) {
    ResumePoint point;
    const bool leads = ranks.rank() == 0;
    together(ranks, [&] {
        if (leads) point.reader = choose_checkpoint(store, request);
    });
    point.step = ranks.agree_on_largest(point.reader ? point.reader->step() : -1);
    if (point.step < 0) return nullptr;
    together(ranks, [&] {
        if (!leads && sees_store) point.reader = reader_of_choice(store, point.step, timeout);
    });
    const auto of_first = [&](const nlohmann::json& json) {
        return nlohmann::json::parse(ranks.text_of_first(leads ? json.dump() : ""));
    };
    point.folder = store.folder() / step_folder_name(point.step);
    point.progress = TrainingProgress::read(of_first(leads ? point.reader->progress() : nullptr), point.folder / progress_file);
    point.settings = of_first(leads ? point.reader->settings() : nullptr);
    return std::make_unique<ResumePoint>(std::move(point));
}

void set_later_aside(ControlGroup& ranks, const CheckpointStore& store, const ResumePoint& point, const ResumeRequest& request) {
    if (request.kind != ResumeRequest::Kind::step) return;
    together(ranks, [&] {
        if (ranks.rank() != 0) return;
        if (const auto aside = store.set_aside_after(point.step))
            log_info(concat("the checkpoints of later steps were moved to ", aside->string(),
                            ": this run does not use them any more; they are safe to delete"));
    });
}

CheckpointFacts facts_of(const ResumePoint& point) {
    return {read_config<ExperimentConfig>(point.settings, (point.folder / "settings.json").string()), point.progress};
}

std::string changed_shares(const ResumePoint& point, const DataPlan& data) {
    const std::vector<MixturePart>& parts = point.progress.mixture;
    if (parts.empty() || parts.back().shares == data.shares || parts.back().shares.size() != data.shares.size()) return {};
    return concat(share_text(parts.back().shares), " in the checkpoint, ", share_text(data.shares), " now");
}

void refuse_changed_settings(const ResumePoint& point, const RunPlan& plan, const BatchLoader& data) {
    ExperimentConfig saved = facts_of(point).settings;
    saved.batch.global_batch_size = point.progress.global_batch_sequences;  // older checkpoints may say 0
    std::vector<std::string> problems;
    for (const Difference& difference : compare_configs(saved, plan.settings))
        if (!difference.may_change)
            problems.push_back(
                concat("  ", difference.path, ": ", difference.value_a, " in the checkpoint, ", difference.value_b, " now"));
    if (const std::string& fingerprint = point.progress.data_fingerprint;
        fingerprint != data.fingerprint() && fingerprint != data.earlier_fingerprint())
        problems.push_back(
            concat("  training data or seed differs from the checkpoint's: the order of samples has the fingerprint ",
                   fingerprint, " in the checkpoint, ", data.fingerprint(), " now"));
    if (const std::string changed = changed_shares(point, plan.data); !changed.empty() && !plan.data.accepts_changed_shares)
        problems.push_back(
            concat("  the weights of data.training_shards: ", changed, "; data.changed_weights = \"accept\" allows this"));
    if (problems.empty()) return;
    std::string message = concat(point.folder.string(), ": this run cannot resume with changed settings or data:\n");
    for (const std::string& problem : problems) message += problem + "\n";
    throw ConfigError(message + "  do: set them back, or train into another folder with --output");
}

}  // namespace bertpretrain
