#include "train/save/checkpoint_saver.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/threads.h"
#include "parallel/together.h"
#include "train/save/finite_state.h"
#include "train/save/save_together.h"

namespace bertpretrain {
namespace {

/// A shorter wait for the previous save is recorded as an event but not logged.
constexpr double worth_logging_seconds = 1;

/// A failed save is repeated after this part of the steps between two saves.
constexpr std::int64_t steps_per_repetition = 10;

void refuse_bad_numbers(const TrainingState& state) {
    if (is_finite(state)) return;
    throw NumbersError(concat("step ", state.step, ": the weights or moments are not finite, so they are not saved\n  do: lower ",
                              "optimizer.learning_rate or lengthen the warm-up, and start the same command again: it resumes ",
                              "from the newest checkpoint, or starts from the beginning if there is none"));
}

/// The prefix of every CheckpointError's message.
constexpr std::string_view kind = "checkpoint error: ";

/// Whether the message of a failed save says that the disk, or the user's share of it, is full.
bool says_disk_is_full(std::string_view message) {
    for (const std::string_view words :
         {std::string_view("no space"), std::string_view(std::strerror(ENOSPC)), std::string_view(std::strerror(EDQUOT))})
        if (message.find(words) != std::string_view::npos) return true;
    return false;
}

/// Replaces paths through this process's descriptors by the folder's name, in a text or path from a save.
std::string named(const std::optional<RunFolder>& folder, std::string_view text) {
    return folder ? folder->with_names(std::string(text)) : std::string(text);
}

}  // namespace

/// A save with everything that it needs: when a run ends with an error, its thread may outlive all other objects.
struct CheckpointSaver::Job {
    std::shared_ptr<ControlGroup> ranks;
    CheckpointStore store;
    std::vector<bool> sees_store;
    std::optional<RunFolder> place;       ///< nullopt: the store's own folder is used
    std::function<void()> lines_written;  ///< RunRecords::lines_written()
    CheckpointStore::Keep keep;
    Snapshot snapshot;
    std::function<void()> sign_of_life;
    double began = 0, stall_seconds = 0;
    std::shared_ptr<RunLineage> lineage;  ///< null on the other ranks
    // Written by the saving thread before it sets `ended`, read by the training thread afterwards.
    std::filesystem::path folder;
    std::exception_ptr failure;
    CheckpointStore::Pruned pruned;
    std::vector<std::string> deleted_early;  ///< names of the checkpoints that were deleted to make room
    std::string lineage_trouble;             ///< why lineage.json could not be written; empty: none
    std::string trouble;                     ///< error while older checkpoints were deleted; empty: none
    double end = 0;
    std::atomic<bool> ended = false;
};

CheckpointSaver::CheckpointSaver(World& world, const CheckpointConfig& config, const CheckpointStore& store,
                                 std::vector<bool> sees_store, RunRecords& records, std::optional<RunFolder> folder,
                                 std::function<void()> sign_of_life)
    : world_(world),
      config_(config),
      store_(store),
      sees_store_(std::move(sees_store)),
      records_(records),
      folder_(std::move(folder)),
      sign_of_life_(std::move(sign_of_life)),
      after_save_(config.after_save, config.after_save_seconds),
      ranks_(world.connect_again("saving")) {
    ranks_->set_timeout(std::chrono::hours(24));  // a lost rank closes its connections; a slow writer is not lost
}

std::shared_ptr<CheckpointSaver::Job> CheckpointSaver::make_job(Snapshot snapshot, double began, bool last) {
    CheckpointStore::Keep keep{config_.keep_last, config_.keep_every_steps, after_save_.look(), config_.keep_best, whole_};
    if (mirror_) keep.steps.merge(mirror_->in_use());
    keep.agreed = snapshot.agreed_step;
    return std::make_shared<Job>(ranks_, store_, sees_store_, folder_, records_.lines_written(!last), keep, std::move(snapshot),
                                 sign_of_life_, began, 0.0, lineage_);
}

void CheckpointSaver::record_lineage(Job& job) {
    if (!job.lineage) return;
    try {
        job.lineage->record(job.folder, job.snapshot.state.step, job.sign_of_life);
    } catch (const Error& error) { job.lineage_trouble = error.what(); }
}

/// Deletes the oldest checkpoint that the settings do not keep for good, though checkpoint.keep_last would keep it longer; never
/// the newest or the best. @returns whether there was one
bool CheckpointSaver::delete_oldest(Job& job) noexcept {
    try {
        const std::vector<std::filesystem::path> before = job.store.all_complete();
        for (auto last = std::min(std::ssize(before), job.keep.last) - 1; last >= 1; --last) {
            CheckpointStore::Keep keep = job.keep;
            keep.last = last;
            job.keep.whole = job.store.prune(keep, job.sign_of_life).whole;
            const std::vector<std::filesystem::path> left = job.store.all_complete();
            if (left.size() == before.size()) continue;
            for (const std::filesystem::path& one : before)
                if (std::find(left.begin(), left.end(), one) == left.end()) job.deleted_early.push_back(one.filename().string());
            return true;
        }
    } catch (const std::exception&) {}  // the save's own failure is reported
    return false;
}

/// Writes the checkpoint; on a full disk, deletes older ones until it fits or none is left to delete.
void CheckpointSaver::write(Job& job) {
    for (;;) try {
            job.folder = save_together(*job.ranks, job.store, job.snapshot.state, job.sees_store, job.sign_of_life);
            return;
        } catch (const Error& error) {
            if (error.code() != ExitCode::checkpoint) throw;
            const bool deleted = says_disk_is_full(error.what()) && job.ranks->rank() == 0 && delete_oldest(job);
            if (job.ranks->agree_on_largest(deleted ? 1 : 0) == 0) throw;
        }
}

void CheckpointSaver::run(Job& job) {
    try {
        together(*job.ranks, [&] {
            job.lines_written();  // a killed run resumes from this save, so all lines before it must be written
            refuse_bad_numbers(job.snapshot.state);
            if (job.place) job.store.move_to(job.place->places().checkpoints());
        });
        write(job);
        job.end = seconds_now();
        job.keep.whole.insert(job.snapshot.state.step);
        job.keep.steps.insert(job.snapshot.state.step);
        if (job.ranks->rank() == 0) {
            if (job.place) job.place->places();  // throws if another process has locked the folder since
            record_lineage(job);
            job.pruned = job.store.prune(job.keep, job.sign_of_life);
        }
    } catch (const std::exception& error) {
        if (job.folder.empty()) job.failure = std::current_exception();
        else job.trouble = error.what();
    }
    job.ended = true;
}

std::vector<double> CheckpointSaver::word() const {
    if (!job_) return {};
    return {job_->ended ? 1.0 : 0.0};
}

void CheckpointSaver::hear(std::span<const double> of_all) {
    has_ended_ = job_ && std::find(of_all.begin(), of_all.end(), 0.0) == of_all.end();
}

void CheckpointSaver::look() {
    after_save_.look();
    tell_mirror();
    if (has_ended_) conclude(false);
}

/// Waits until the save has ended on all ranks. Meanwhile the training threads show each other that they run: by its save alone,
/// a rank that hangs cannot be told from one with a slow disk. @returns whether the save was in progress
bool CheckpointSaver::wait_for_all(const DetachedWorker& thread) {
    constexpr double seconds_between_signs = 0.1;
    bool waits = false;
    for (; world_.agree_on_largest(job_->ended ? 0 : 1) != 0; waits = true) thread.drain_for(seconds_between_signs);
    return waits;
}

void CheckpointSaver::make_room() {
    if (!job_) return;
    const double begin = seconds_now();
    const std::int64_t step = job_->snapshot.state.step;
    const bool waits = wait_for_all(thread_);
    conclude(false);
    if (!waits || world_.rank() != 0) return;
    const double seconds = seconds_now() - begin;
    records_.event("save_waited", {{"for_step", step}, {"seconds", seconds}});
    if (seconds < worth_logging_seconds) return;
    records_.clear_progress();
    log_info(concat("the checkpoint of step ", step, " was still being written: training waited ", fixed(seconds, 1),
                    " s for it\n  do: raise checkpoint.save_every_steps, or use a faster disk"));
}

void CheckpointSaver::start(Snapshot snapshot, double began) {
    check(!job_, "a save is already in progress");
    repeat_from_.reset();
    const std::shared_ptr<Job> started = make_job(std::move(snapshot), began);
    started->stall_seconds = seconds_now() - began;
    thread_.post([job = started] {
        // Training on a CPU uses every core and waits for its slowest thread. Once training waits for the save, it gets the whole
        // machine.
        run_at_low_priority();
        run(*job);
    });
    job_ = started;
}

void CheckpointSaver::save_now(Snapshot snapshot, bool last, bool stopping) {
    check(!job_, "a save is already in progress");
    repeat_from_.reset();
    job_ = make_job(std::move(snapshot), seconds_now(), last);
    job_->keep.verify = !stopping;
    DetachedWorker at_full_speed(farewell_seconds);  // thread_ has a low priority
    at_full_speed.post([job = job_] { run(*job); });
    wait_for_all(at_full_speed);
    job_->stall_seconds = seconds_now() - job_->began;
    conclude(last);
}

void CheckpointSaver::finish() {
    if (job_) {
        wait_for_all(thread_);
        conclude(false);
    }
    after_save_.look();
}

void CheckpointSaver::finish_commands(const std::function<double()>& end) {
    if (world_.rank() == 0) after_save_.finish(end);
}

void CheckpointSaver::finish_commands_after(std::int64_t step, const std::function<double()>& end) {
    if (world_.rank() == 0) after_save_.finish_after(step, end);
}

void CheckpointSaver::keep_mirror(std::shared_ptr<CheckpointMirror> mirror) {
    if (mirror) mirror_ = std::make_unique<MirrorUploads>(std::move(mirror), config_.keep_last);
}

void CheckpointSaver::mirror(std::int64_t step) {
    if (mirror_) mirror_->start(step, store_.folder() / step_folder_name(step));
}

void CheckpointSaver::finish_mirror(const std::function<double()>& end) {
    if (!mirror_) return;
    tell_mirror();
    mirror_->finish(end);
    tell_mirror();
}

void CheckpointSaver::abandon_mirrored_after(std::int64_t step) {
    if (!mirror_) return;
    if (const std::string failure = mirror_->abandon_after(step); !failure.empty())
        log_warning(concat("the checkpoints after step ", step, " could not be marked as abandoned in the mirror: ", failure,
                           "\n  do: a start in an empty folder must name its step by --resume until the next one is mirrored"));
}

void CheckpointSaver::tell_mirror() {
    if (!mirror_) return;
    for (const MirrorUploads::Result& result : mirror_->take_results()) {
        if (result.is_skipped) {
            records_.event("mirror_skipped", {{"step", result.step}});
            continue;
        }
        if (result.failure.empty() && result.sent.bytes > 0)
            records_.event("mirror", {{"step", result.step}, {"seconds", result.seconds}, {"bytes", result.sent.bytes}});
        if (!result.failure.empty()) records_.event("mirror_failed", {{"step", result.step}, {"cause", result.failure}});
        if (result.failure.empty() && result.sent.trouble.empty()) continue;
        records_.clear_progress();
        log_warning(result.failure.empty()
                        ? concat("the mirror has step ", result.step,
                                 ", but an older checkpoint could not be deleted from it: ", result.sent.trouble)
                        : concat("step ", result.step, " is not in the mirror: ", result.failure,
                                 "\n  the local checkpoint is complete, and the run continues"));
    }
}

void CheckpointSaver::conclude(bool last) {
    thread_.drain();
    const std::shared_ptr<Job> job = std::exchange(job_, nullptr);
    has_ended_ = false;
    note_deleted(*job);
    if (!job->failure) return note_success(*job);
    try {
        std::rethrow_exception(job->failure);
    } catch (const Error& error) {
        if (error.code() != ExitCode::checkpoint) throw;
        const CheckpointError shown(named(folder_, std::string_view(error.what()).substr(kind.size())));
        if (last || config_.on_save_error == OnSaveError::stop) throw shown;
        note_failure(*job, shown);
        // The pause doubles while saves fail, so that a disk that stays full does not fill the log.
        const std::int64_t every = std::max<std::int64_t>(1, config_.save_every_steps);
        const std::int64_t pause = std::max<std::int64_t>(1, every / steps_per_repetition)
                                   << std::min<std::int64_t>(failures_++, 10);
        repeat_from_ = job->snapshot.state.step + std::min(pause, every);
    }
}

void CheckpointSaver::note_success(const Job& job) {
    const std::int64_t step = job.snapshot.state.step;
    step_saved_ = step;
    failures_ = 0;
    longest_save_seconds_ = std::max(longest_save_seconds_, job.end - job.began);
    if (world_.rank() != 0) return;
    whole_.insert(step);
    whole_.insert(job.pruned.whole.begin(), job.pruned.whole.end());
    for (const std::string& warning : job.pruned.warnings) {
        records_.clear_progress();
        log_warning(named(folder_, warning));
    }
    if (!job.lineage_trouble.empty()) {
        records_.clear_progress();
        log_warning(concat(named(folder_, job.lineage_trouble), "\n  the checkpoint is complete, but has no lineage.json"));
    }
    if (!job.trouble.empty()) {
        records_.clear_progress();
        log_warning(concat(named(folder_, job.trouble), "\n  an older checkpoint could not be deleted; the run continues"));
    }
    records_.event("save", {{"step", step}, {"seconds", job.end - job.began}, {"stall_seconds", job.stall_seconds}});
    after_save_.start(step, named(folder_, job.folder.string()));
    if (mirror_) mirror_->start(step, named(folder_, job.folder.string()));
}

void CheckpointSaver::note_deleted(const Job& job) {
    if (job.deleted_early.empty()) return;
    records_.clear_progress();
    log_warning(concat(store_.folder().string(), ": the disk is full: ", join(job.deleted_early),
                       " made room for the checkpoint of step ", job.snapshot.state.step, " and ",
                       job.deleted_early.size() == 1 ? "is" : "are", " deleted, earlier than checkpoint.keep_last = ",
                       config_.keep_last, " says\n  do: free some space, or lower checkpoint.keep_last"));
    records_.event("checkpoints_deleted_early", {{"for_step", job.snapshot.state.step}, {"deleted", job.deleted_early}});
}

void CheckpointSaver::note_failure(const Job& job, const Error& error) {
    if (world_.rank() != 0) return;
    records_.clear_progress();
    log_warning(
        concat(error.what(), "\n  step ", job.snapshot.state.step, " is not saved; ",
               step_saved_ ? concat("the newest good checkpoint is of step ", *step_saved_) : "there is no checkpoint yet",
               "; the run continues and tries again soon (checkpoint.on_save_error is \"retry\")"));
    records_.event("save_failed", {{"step", job.snapshot.state.step}, {"cause", error.what()}});
}

}  // namespace bertpretrain
