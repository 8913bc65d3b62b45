#pragma once
// A run: restore, then steps with logs, evaluations and checkpoints between them.

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "batches/batch_loader.h"
#include "checkpoint/checkpoint_store.h"
#include "inference/evaluate.h"
#include "model/model.h"
#include "parallel/launch_environment.h"
#include "plan/run_plan.h"
#include "telemetry/device_usage.h"
#include "telemetry/phase_clock.h"
#include "train/audit/cross_check/cross_check.h"
#include "train/records/run_folder.h"
#include "train/records/run_probe.h"
#include "train/records/run_records.h"
#include "train/save/checkpoint_saver.h"
#include "train/save/snapshot.h"
#include "train/start/core_contention.h"
#include "train/start/kernel_choice.h"
#include "train/start/rank_devices.h"
#include "train/start/resume.h"
#include "train/step/number_guard.h"
#include "train/step/step_opening.h"
#include "train/step/stragglers.h"
#include "train/step/train_step.h"
#include "train/stop/spending.h"
#include "train/stop/stop_agreement.h"
#include "train/stop/stop_request.h"
#include "train/stop/stop_target.h"
#include "train/stop/watchdog.h"

namespace bertpretrain {

/// Everything that a run is made of, in the order in which it is made.
struct TrainerParts {
    RunPlan plan;
    Launch launch;
    ResumeRequest resume;
    std::unique_ptr<World> world;
    std::unique_ptr<RunFolder> folder;
    std::vector<bool> sees_folder;             ///< by rank: whether it has rank 0's run folder as well
    std::shared_ptr<CheckpointMirror> mirror;  ///< null: none, or another rank than 0
    std::unique_ptr<ResumePoint> checkpoint;   ///< to go on from; null: a fresh start
    std::unique_ptr<BatchLoader> loader;
    std::unique_ptr<EvaluationBatches> held_out;  ///< null: no evaluation
    std::unique_ptr<RunProbe> probe;              ///< null: none
    std::unique_ptr<FlatParameters> parameters;
    std::unique_ptr<Model> model;
    std::unique_ptr<ShardedOptimizer> optimizer;
    std::unique_ptr<GradientBuckets> buckets;
    std::unique_ptr<TrainStep> step;
    std::filesystem::path exit_record;  ///< RUN/exit.json, of the whole run where this is one of its phases
    bool is_last_phase = true;          ///< whether the process ends after it; false: the ranks go on with the next phase
    std::string metrics_address;        ///< "127.0.0.1:9400": where rank 0 serves its last numbers; empty: nowhere
    RunLimits limits;
    ChosenKernels kernels;  ///< on a GPU: see choose_kernels
};

class Trainer {
public:
    /// @param requests must outlive it
    Trainer(TrainerParts parts, StopRequest& requests);

    /// Trains to the end, or until a limit is reached or a signal to any rank asks to stop. @returns 0 or the signal's number
    /// @throws NumbersError when too many updates in a row had to be skipped
    /// @throws DistributedError when a rank is lost
    int run();

    /// Whether the last completed step is in a checkpoint, so that nothing is lost if this process ends.
    bool is_saved() const { return step_ == 0 || saver_.step_saved() == step_; }

    /// The completed optimizer updates.
    std::int64_t step() const { return step_; }

    /// On rank 0, returns why the run stopped at one of its limits; nullopt: it did not.
    const std::optional<std::string>& stopped_at_limit() const { return limit_; }

    /// After run(), returns the connected ranks for another trainer. Until this one is destroyed, nothing else may use them.
    std::unique_ptr<World> release_world() { return std::move(parts_.world); }

private:
    void restore();
    /// What comes next: agreed on in the step before, where there was one.
    StepOpening next_opening();
    void take_step(const StepOpening& opening);
    /// On rank 0, requests a stop if a limit is near.
    void look_at_limits();
    /// On rank 0, logs and records what the rest of the run will take.
    void tell_forecast();
    /// Ends a run whose last step is done and saved.
    void finish();
    /// Saves where that may be done, and leaves. @returns as run()
    int stop(StopReason reason);
    /// Blocks until something is done, or until `end`: when to stop waiting, by seconds_now(). Calls `end` often.
    using Wait = std::function<void(const std::function<double()>& end)>;
    /// Calls `wait` on rank 0 and blocks on the other ranks until it returns; they notice a rank 0 that hangs meanwhile.
    void wait_for_first(const std::function<double()>& end, const Wait& wait);
    /// Blocks until the newest checkpoint is in the mirror, or until `end`.
    void finish_mirror(const std::function<double()>& end);
    /// Does something for a run that ends by an error: a second error is logged and does not replace that cause.
    void attempt(const std::function<void()>& action);
    /// Ends the run by an error that all ranks have, after saving the updates made before it.
    [[noreturn]] void save_and_rethrow(const std::exception_ptr& failure);
    /// @param reason none: the run is finished  @returns as run()
    int leave(StopReason reason);
    /// @throws DataError on all ranks where lines of rank 0 are lost and the run was not stopped
    void finish_records(bool is_stopped);
    /// @throws CheckpointError on all ranks, after the others have heard @param trouble why the last save failed, or empty
    [[noreturn]] void leave_lost_folder(const std::string& trouble);
    /// Runs the step, and checks its computation where that is due. @param open_next as TrainStep::run's before_gather
    /// @throws HardwareError after the checkpoints that no check has confirmed are set aside
    StepOutcome compute(const StepOpening& opening, std::int64_t number, double rate, const std::function<void()>& open_next);
    void set_unverified_aside(const HardwareError& error, std::int64_t step);
    void record(const StepOutcome& outcome, double learning_rate, double seconds, double data_wait_seconds);
    void tell(NumberTrouble trouble);
    /// Logs and records why a finished run ends before its last step, if it does.
    void tell_target();
    /// @returns whether it was done; else a rank was asked to stop, and it is made up for when the run goes on
    bool evaluate_held_out();
    /// Saves this step, while training goes on where it may. Does nothing if it is saved already, with its evaluation.
    void save(bool training_goes_on);
    Snapshot with_progress(Snapshot snapshot) const;
    bool due(std::int64_t every) const { return step_ > 0 && every > 0 && step_ % every == 0; }
    bool finished() const { return step_ >= total_steps() || target_.reached(); }
    const ExperimentConfig& settings() const { return parts_.plan.settings; }
    std::int64_t total_steps() const { return settings().schedule.total_steps; }

    TrainerParts parts_;
    StopRequest& requests_;
    PhaseClock clock_;
    std::unique_ptr<RunRecords> records_;
    /// How a run was trained that was complete when this process started, which only evaluates it.
    struct CompleteRun {
        nlohmann::json settings;
        TrainingProgress progress;
        /// Replaces all but the evaluation in the progress of this process.
        void add_evaluation_to(TrainingProgress& now) const {
            TrainingProgress trained = progress;
            trained.step_evaluated = now.step_evaluated;
            trained.held_out_mlm_loss = now.held_out_mlm_loss;
            trained.mlm_loss = now.mlm_loss;
            now = std::move(trained);
        }
    };
    std::optional<CompleteRun> complete_;
    std::shared_ptr<const TokenizerFile> vocabulary_;  ///< on rank 0, as at the start; null: none
    CheckpointSaver saver_;
    std::optional<SnapshotBuffers> snapshot_;
    DeviceUsageMeter usage_;
    RankDevices devices_;
    Stragglers stragglers_;
    CoreContention contention_;
    NumberGuard numbers_;
    CrossCheck cross_check_;
    StopTarget target_;
    std::optional<Spending> spending_;  ///< on rank 0, where the run has limits or a price
    std::optional<std::string> limit_;  ///< on rank 0: the limit at which the run stops
    StopAgreement stop_in_step_, stop_in_evaluation_;
    std::optional<StepOpening> next_;   ///< of the step after step_
    std::int64_t step_ = 0;             ///< completed optimizer updates
    std::int64_t last_save_step_ = -1;  ///< the last that was saved, or whose save is under way
    std::int64_t step_evaluated_ = -1;
    std::int64_t saved_evaluation_ = -1;  ///< step_evaluated_ at the last save
    double held_out_loss_ = 0;            ///< MLM, of step_evaluated_
    std::int64_t updates_before_ = 0;     ///< of the moments that the run began with
    Watchdog watchdog_;                   ///< last: it ends before what it watches
};

}  // namespace bertpretrain
