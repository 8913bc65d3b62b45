#pragma once
// Saves while training goes on.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "parallel/world.h"
#include "plan/run_plan.h"
#include "train/after_save.h"
#include "train/run_records.h"
#include "train/snapshot.h"

namespace bertpretrain {

/// One save at a time, by a thread of its own on every rank, which talk over connections of their own. All ranks call the same
/// members between the same steps.
///
/// A save that fails is not the end where checkpoint.on_save_error is OnSaveError::retry: it is logged, and the next one that
/// falls due tries again; but the last one of a run must succeed. Members throw CheckpointError, on all ranks, for a save that
/// may not fail; DistributedError when a rank is lost.
class CheckpointSaver {
public:
    /// @param sees_store by rank, as in save_together()
    /// @param folder the run's, into whose checkpoints/ all is written though it is renamed; nothing: into store.folder()
    /// @param sign_of_life called by the saving thread while it makes progress, perhaps after this object's end; may be empty
    CheckpointSaver(World& world, const CheckpointPlan& config, const CheckpointStore& store, std::vector<bool> sees_store,
                    RunRecords& records, std::optional<RunFolder> folder = std::nullopt, std::function<void()> sign_of_life = {});
    CheckpointSaver(const CheckpointSaver&) = delete;
    CheckpointSaver& operator=(const CheckpointSaver&) = delete;
    ~CheckpointSaver();

    /// After every step: notices, on all ranks after the same step, that a save has ended.
    void look();

    /// Waits for the save under way, if there is one: at most one is, and its snapshot's memory is used again. The wait is
    /// logged.
    void make_room();

    /// Writes a snapshot while training goes on; make_room() comes first.
    /// @param began seconds_now() before the snapshot was taken, for the records
    void start(Snapshot snapshot, double began);

    /// Writes it, after make_room(), and returns when it is complete: the state must not change meanwhile.
    /// @param last no save follows that could try again: it must succeed
    /// @param stopping the process may be killed soon: older checkpoints are not read to find out whether they are whole, and
    ///        stay where that is not known
    void save_now(Snapshot snapshot, bool last, bool stopping = false);

    /// Returns when no save is under way.
    void finish();

    /// Rank 0 waits for the commands after saves (checkpoint.after_save), each of which has its limit.
    /// @param end when to stop waiting, by seconds_now(); asked again and again
    void finish_commands(const std::function<double()>& end);
    /// Rank 0 waits for those that an earlier process of the run has started on checkpoints of later steps, which this run will
    /// move or replace.
    void finish_commands_after(std::int64_t step);

    /// The step that the run goes on from, which is saved, and whose checksums rank 0 has verified.
    void goes_on_from(std::int64_t step) {
        step_saved_ = step;
        whole_.insert(step);
    }

    /// The last step that is known to be saved whole; nothing before the first.
    std::optional<std::int64_t> step_saved() const { return step_saved_; }

private:
    struct Job;
    std::shared_ptr<Job> make_job(Snapshot snapshot, double began);
    static void run(Job& job);
    /// Waits for the job and takes note of how it ended.
    void conclude(bool last);
    void note_success(const Job& job);
    void note_failure(const Job& job, const Error& error);

    World& world_;
    CheckpointPlan config_;
    CheckpointStore store_;
    std::vector<bool> sees_store_;
    RunRecords& records_;
    std::optional<RunFolder> folder_;
    std::function<void()> sign_of_life_;
    AfterSave after_save_;
    std::shared_ptr<ControlGroup> ranks_;  ///< of the saving threads
    std::optional<std::int64_t> step_saved_;
    std::set<std::int64_t> whole_;  ///< checkpoints that this process wrote or verified
    std::shared_ptr<Job> job_;      ///< under way, or done and not yet concluded
    std::thread thread_;            ///< of the job
};

}  // namespace bertpretrain
