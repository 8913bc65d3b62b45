#pragma once
// Saves checkpoints in the background of training.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "core/threads/detached_worker.h"
#include "parallel/world.h"
#include "plan/run_plan.h"
#include "train/audit/run_lineage.h"
#include "train/records/run_records.h"
#include "train/save/after_save.h"
#include "train/save/mirror_uploads.h"
#include "train/save/snapshot.h"

namespace bertpretrain {

/// Runs one save at a time, on a thread of its own on every rank; these threads communicate over connections of their own. All
/// ranks call the same members between the same steps.
///
/// If the disk is full, the oldest checkpoints are deleted for the new one, but not the newest complete one, the best, or one
/// that checkpoint.keep_every_steps keeps. With checkpoint.on_save_error "retry", a save that fails all the same is logged and
/// repeated after a tenth of checkpoint.save_every_steps, then a fifth, and so on; but a run's last save must succeed. Members
/// throw CheckpointError, on all ranks, for a save that must not fail; DistributedError when a rank is lost.
class CheckpointSaver {
public:
    /// @param sees_store by rank, as in save_together()
    /// @param folder the run's folder; saves go into its checkpoints/ even after a rename. nullopt: into store.folder()
    /// @param sign_of_life called by the saving thread while it makes progress, possibly after this object's end; may be empty
    CheckpointSaver(World& world, const CheckpointConfig& config, const CheckpointStore& store, std::vector<bool> sees_store,
                    RunRecords& records, std::optional<RunFolder> folder = std::nullopt, std::function<void()> sign_of_life = {});

    /// From now on, rank 0's saving thread writes lineage.json beside each checkpoint, after it is complete. If that fails, a
    /// warning is logged. Call it before the first save.
    void keep_lineage(std::shared_ptr<RunLineage> lineage) { lineage_ = std::move(lineage); }

    /// For rank 0: from now on, each complete checkpoint is uploaded to the mirror.
    void keep_mirror(std::shared_ptr<CheckpointMirror> mirror);

    /// Returns what this rank tells the others about the save in progress, once per step: as many numbers on every rank.
    std::vector<double> word() const;
    /// Takes the words of all ranks, in rank order.
    void hear(std::span<const double> of_all);
    /// Concludes a save that had ended on all ranks when they exchanged words. Call it after every step. Sends no message.
    void look();

    /// Blocks until the save in progress, if any, has ended: the next save reuses its snapshot's memory. Logs a long wait.
    void make_room();

    /// Starts to write a snapshot in the background. Call make_room() first.
    /// @param began seconds_now() before the snapshot was taken, for the records
    void start(Snapshot snapshot, double began);

    /// Writes a snapshot and blocks until it is complete; the state must not change meanwhile. Call make_room() first.
    /// @param last no later save could retry: this one must succeed
    /// @param stopping the process may be killed soon: older checkpoints are not verified, and those not known to be intact are
    ///        neither deleted nor counted
    void save_now(Snapshot snapshot, bool last, bool stopping = false);

    /// Whether a save failed, and the state after `step` should be saved although no save is scheduled. The same on all ranks.
    bool repeats_after(std::int64_t step) const { return repeat_from_ && step >= *repeat_from_; }

    /// Blocks until no save is in progress.
    void finish();

    /// On rank 0, blocks until the commands after saves (checkpoint.after_save) have ended; their time limits apply.
    /// @param end when to stop waiting, by seconds_now(); called repeatedly
    void finish_commands(const std::function<double()>& end);
    /// On rank 0, blocks until commands on checkpoints of later steps have ended, because these checkpoints will be moved.
    /// @param end as in finish_commands()
    void finish_commands_after(std::int64_t step, const std::function<double()>& end);

    /// On rank 0, blocks until the newest checkpoint is in the mirror, and reports those that are not.
    /// @param end when to stop waiting, by seconds_now(); called repeatedly
    void finish_mirror(const std::function<double()>& end);
    /// On rank 0, marks the mirror's checkpoints of later steps: the run continues from `step` on another path, or they were not
    /// computed correctly. If that fails, a warning is logged.
    void abandon_mirrored_after(std::int64_t step);

    /// Records the step from which the run resumes: it is saved, and rank 0 has verified its checksums.
    void goes_on_from(std::int64_t step) {
        step_saved_ = step;
        whole_.insert(step);
    }
    /// On rank 0, uploads the checkpoint from which the run resumes, unless it is in the mirror.
    void mirror(std::int64_t step);

    /// Returns the last step that is known to be saved; nullopt before the first.
    std::optional<std::int64_t> step_saved() const { return step_saved_; }

    /// Returns the seconds from a snapshot to its complete checkpoint, the longest on this rank so far; 0 before the first.
    double longest_save_seconds() const { return longest_save_seconds_; }

private:
    /// How long a run that ends with an error waits for the save in progress, which other ranks may have left already.
    static constexpr double farewell_seconds = 10;

    struct Job;
    /// @param last as in save_now()
    std::shared_ptr<Job> make_job(Snapshot snapshot, double began, bool last = false);
    static void run(Job& job);
    static void write(Job& job);
    static bool delete_oldest(Job& job) noexcept;
    static void record_lineage(Job& job);
    bool wait_for_all(const DetachedWorker& thread);
    /// Waits for the job and handles its result. @param last as in save_now()
    void conclude(bool last);
    void note_success(const Job& job);
    /// Warns of the checkpoints that were deleted because the disk is full.
    void note_deleted(const Job& job);
    void note_failure(const Job& job, const Error& error);
    /// Logs and records what has become of uploads.
    void tell_mirror();

    World& world_;
    CheckpointConfig config_;
    CheckpointStore store_;
    std::vector<bool> sees_store_;
    RunRecords& records_;
    std::optional<RunFolder> folder_;
    std::function<void()> sign_of_life_;
    AfterSave after_save_;
    std::unique_ptr<MirrorUploads> mirror_;  ///< null: no mirror, or another rank
    std::shared_ptr<RunLineage> lineage_;    ///< null on the other ranks
    std::shared_ptr<ControlGroup> ranks_;    ///< connections of the saving threads
    std::optional<std::int64_t> step_saved_;
    std::int64_t failures_ = 0;                ///< saves that failed since the last good one
    std::optional<std::int64_t> repeat_from_;  ///< after a failed save: the step after which it is repeated
    double longest_save_seconds_ = 0;
    std::set<std::int64_t> whole_;  ///< checkpoints that this process wrote or verified
    std::shared_ptr<Job> job_;      ///< in progress, or ended and not yet concluded
    bool has_ended_ = false;        ///< whether all ranks have said that the job has ended on them
    DetachedWorker thread_{farewell_seconds};
};

}  // namespace bertpretrain
