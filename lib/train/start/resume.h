#pragma once
// Which checkpoint a run goes on from, and whether it may.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "batches/batch_loader.h"
#include "checkpoint/checkpoint_mirror.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/training_progress.h"
#include "parallel/control_group.h"
#include "plan/facts.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// What `--resume` asks for.
struct ResumeRequest {
    enum class Kind { automatic, never, step } kind = Kind::automatic;
    std::int64_t step = 0;
    bool again = false;  ///< a launcher repeats the command: the run may be on its way already

    /// "auto", "never" or a step. @throws ConfigError
    static ResumeRequest parse(const std::string& text);
    std::string text() const;
};

/// The checkpoint to go on from; null for a fresh start.
/// automatic: the newest that is whole; damaged ones are named in a warning. The same where a command is repeated and the newest
/// is what it has come to so far.
/// @param mirror opened; its checkpoints count too and are fetched when chosen. Null: none. A local checkpoint is preferred to
///        its copy.
/// @throws CheckpointError when the step asked for is not there, or all that there are are damaged
/// @throws ConfigError for `never` where there are checkpoints
/// @throws DistributedError when the mirror cannot be reached
std::unique_ptr<CheckpointReader> choose_checkpoint(const CheckpointStore& store, const ResumeRequest& request,
                                                    CheckpointMirror* mirror = nullptr);

/// The checkpoint that all ranks go on from.
struct ResumePoint {
    std::int64_t step = 0;
    std::filesystem::path folder;              ///< as rank 0 sees it
    TrainingProgress progress;                 ///< the checkpoint's
    nlohmann::json settings;                   ///< the checkpoint's
    std::unique_ptr<CheckpointReader> reader;  ///< null on a rank that does not see it
};

/// How long a rank waits for rank 0's checkpoint to appear: above the 60 s for which an NFS client may trust its cache of a
/// folder.
constexpr auto stale_folder_timeout = std::chrono::seconds(90);

/// Rank 0 chooses and checks the contents; those others that see the folder open what it chose. Null for a fresh start. Where
/// another rank does not find it within `timeout`, it has no reader, as a rank that does not see the folder.
/// @param mirror as above, on rank 0
/// @throws CheckpointError, ConfigError, DistributedError as above, and where what it says of the run's progress makes no sense;
/// on all ranks
std::unique_ptr<ResumePoint> choose_checkpoint(ControlGroup& ranks, const CheckpointStore& store, const ResumeRequest& request,
                                               bool sees_store, std::chrono::milliseconds timeout = stale_folder_timeout,
                                               CheckpointMirror* mirror = nullptr);

/// Where a step was asked for: takes the checkpoints of later ones out of the run's way (CheckpointStore::set_aside_after). For
/// when the run is certain to go on from `point`. @throws CheckpointError on all ranks
void set_later_aside(ControlGroup& ranks, const CheckpointStore& store, const ResumePoint& point, const ResumeRequest& request);

/// What resolve() needs of it. @throws ConfigError where the checkpoint's settings are not understood
CheckpointFacts facts_of(const ResumePoint& point);

/// Describes how the sources' shares differ from the checkpoint's: "60 %, 40 % in the checkpoint, 70 %, 30 % now". Empty if they
/// do not, or if there are other sources.
std::string changed_shares(const ResumePoint& point, const DataPlan& data);

/// @throws ConfigError naming every setting that differs from the checkpoint's and may not, with both values, and other data
void refuse_changed_settings(const ResumePoint& point, const RunPlan& plan, const BatchLoader& data);

/// Logs the settings that are not the checkpoint's: as lines of information where steps follow, or as a warning where the run is
/// complete, so that no step uses them.
/// @param trains whether steps follow
void tell_changed_settings(const ResumePoint& point, const RunPlan& plan, bool trains);

/// Warns if other kernels computed the checkpoint than `now`.
void tell_other_kernels(const ResumePoint& point, const std::string& now);

}  // namespace bertpretrain
