#include "train/start/resume.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "parallel/together.h"
#include "plan/training_phases.h"

namespace bertpretrain {
namespace {

/// Where the checkpoint of a step is.
struct Places {
    std::optional<std::filesystem::path> folder;
    bool is_mirrored = false;
};

std::unique_ptr<CheckpointReader> fetched(const CheckpointStore& store, std::int64_t step, CheckpointMirror& mirror) {
    log_info(concat("fetching the checkpoint of step ", step, " from ", mirror.url().text()));
    return std::make_unique<CheckpointReader>(mirror.fetch(step, store));
}

/// Null where there are no checkpoints.
std::unique_ptr<CheckpointReader> newest_whole(const CheckpointStore& store, CheckpointMirror* mirror) {
    std::map<std::int64_t, Places, std::greater<>> steps;
    for (auto& [step, folder] : store.all()) steps[step].folder = folder;
    if (mirror != nullptr)
        for (const std::int64_t step : mirror->steps()) steps[step].is_mirrored = true;
    if (steps.empty()) return nullptr;
    const auto attempt = [](std::string_view next, const auto& open) -> std::unique_ptr<CheckpointReader> {
        try {
            return open();
        } catch (const CheckpointError& error) {
            log_warning(concat(error.what(), "\n  this checkpoint is not used; trying ", next));
            return nullptr;
        }
    };
    for (const auto& [step, places] : steps) {
        const std::string_view next = places.is_mirrored ? "its copy in the mirror"
                                                         : "the one before it. A save of this step replaces it: copy its "
                                                           "folder first if you want to examine it";
        if (places.folder)
            if (auto reader = attempt(next, [&] { return std::make_unique<CheckpointReader>(*places.folder); })) return reader;
        if (places.is_mirrored)
            if (auto reader = attempt("the one before it", [&] { return fetched(store, step, *mirror); })) return reader;
    }
    throw CheckpointError(concat(store.folder().string(), ": all ", steps.size(),
                                 " checkpoints are damaged, as the warnings above say",
                                 "\n  do: bring an undamaged copy back, or train into another folder with --output",
                                 mirror == nullptr ? "" : ", and without this checkpoint.mirror"));
}

bool is_only_mirrored(const CheckpointStore& store, std::int64_t step, const CheckpointMirror* mirror) {
    if (mirror == nullptr || std::ranges::count(mirror->steps(), step) == 0) return false;
    return std::ranges::count(store.all(), step, [](const auto& one) { return one.first; }) == 0;
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

ExperimentConfig saved_settings(const ResumePoint& point) {
    ExperimentConfig saved = facts_of(point).settings;
    saved.batch.global_batch_size = point.progress.global_batch_sequences;  // older checkpoints may say 0
    return saved;
}

std::string in_words(const Difference& difference) {
    return concat(difference.path, ": ", difference.value_a, " in the checkpoint, ", difference.value_b, " now");
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

std::unique_ptr<CheckpointReader> choose_checkpoint(const CheckpointStore& store, const ResumeRequest& request,
                                                    CheckpointMirror* mirror) {
    if (request.again)  // an attempt before has met the request, unless it came to no checkpoint
        if (auto newest = newest_whole(store, mirror); newest && came_of(request, *newest)) return newest;
    if (request.kind == ResumeRequest::Kind::step && is_only_mirrored(store, request.step, mirror))
        return fetched(store, request.step, *mirror);
    if (request.kind == ResumeRequest::Kind::step) return std::make_unique<CheckpointReader>(store.complete_at(request.step));
    if (request.kind == ResumeRequest::Kind::automatic) return newest_whole(store, mirror);
    if (const auto folders = store.all(); !folders.empty())
        throw ConfigError(concat(store.folder().string(), ": holds checkpoints of an earlier run (newest ",
                                 folders.back().second.filename().string(),
                                 "); go on with --resume auto, or choose another --output"));
    if (mirror != nullptr && !mirror->steps().empty())
        throw ConfigError(concat(mirror->url().text(), ": the mirror holds checkpoints of an earlier run (newest step ",
                                 mirror->steps().back(), "); go on with --resume auto, or choose another checkpoint.mirror"));
    return nullptr;
}

std::unique_ptr<ResumePoint> choose_checkpoint(ControlGroup& ranks, const CheckpointStore& store, const ResumeRequest& request,
                                               bool sees_store, std::chrono::milliseconds timeout, CheckpointMirror* mirror) {
    ResumePoint point;
    const bool leads = ranks.rank() == 0;
    together(ranks, [&] {
        if (leads) point.reader = choose_checkpoint(store, request, mirror);
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
    std::vector<std::string> problems;
    for (const Difference& difference : fixed_differences(saved_settings(point), plan.settings))
        problems.push_back("  " + in_words(difference));
    if (const std::string& fingerprint = point.progress.data_fingerprint;
        fingerprint != data.fingerprint() && fingerprint != data.earlier_fingerprint())
        problems.push_back(
            concat("  training data or seed differs from the checkpoint's: the order of samples has the fingerprint ",
                   fingerprint, " in the checkpoint, ", data.fingerprint(), " now"));
    if (const std::string changed = changed_shares(point, plan.data);
        !changed.empty() && plan.settings.data.changed_weights == ChangedWeights::refuse)
        problems.push_back(
            concat("  the weights of data.training_shards: ", changed, "; data.changed_weights = \"accept\" allows this"));
    if (problems.empty()) return;
    std::string message = concat(point.folder.string(), ": this run cannot resume with changed settings or data:\n");
    for (const std::string& problem : problems) message += problem + "\n";
    throw ConfigError(message + "  do: set them back, or train into another folder with --output");
}

void tell_changed_settings(const ResumePoint& point, const RunPlan& plan, bool trains) {
    std::string changed;
    for (const Difference& difference : compare_configs(saved_settings(point), plan.settings))
        changed += "\n  " + in_words(difference);
    if (changed.empty()) return;
    if (trains) return log_info(concat("settings that change from step ", point.step + 1, " on:", changed));
    log_warning(concat("the run is complete at step ", point.step,
                       ", and no step of it was trained with these settings:", changed,
                       "\n  do: train on with a larger schedule.total_steps, or without schedule.stop_at, or train into another ",
                       "folder with --output"));
}

void tell_other_kernels(const ResumePoint& point, const std::string& now) {
    const std::string& before = point.progress.kernels;
    if (!before.empty() && before != now)
        log_warning(concat("the checkpoint was computed by the kernels for ", before, ", from here on those for ", now,
                           " compute: the run goes on, but not to the bit as it would have"));
}

}  // namespace bertpretrain
