#pragma once
// A run: restore, then steps with logs, evaluations and checkpoints between them.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "batches/batch_loader.h"
#include "checkpoint/checkpoint_store.h"
#include "inference/evaluate.h"
#include "model/bert.h"
#include "train/experiment_config.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/run_records.h"
#include "train/stop_request.h"
#include "train/stragglers.h"
#include "train/train_step.h"

namespace bertpretrain {

/// Everything that a run is made of, in the order in which it is made.
struct TrainerParts {
    ExperimentConfig experiment;
    std::unique_ptr<World> world;
    std::unique_ptr<RunFolder> folder;
    std::unique_ptr<CheckpointReader> checkpoint;  ///< to go on from; null: a fresh start
    std::int64_t global_batch = 0;                 ///< sequences of one step over all ranks
    std::unique_ptr<BatchLoader> loader;
    std::unique_ptr<EvaluationBatches> held_out;  ///< null: no evaluation
    std::filesystem::path vocabulary;             ///< may be empty
    std::optional<double> unigram_cross_entropy;  ///< of the training shards, where their manifest tells
    std::unique_ptr<FlatParameters> parameters;
    std::unique_ptr<Bert> bert;
    std::unique_ptr<ShardedOptimizer> optimizer;
    std::unique_ptr<GradientBuckets> buckets;
    std::unique_ptr<TrainStep> step;
};

class Trainer {
public:
    explicit Trainer(TrainerParts parts);

    /// Trains to the end, or until a signal asks to stop. @returns 0 or the signal's number
    /// @throws NumbersError when too many updates in a row had to be skipped
    /// @throws DistributedError when a rank is lost
    int run();

private:
    void restore();
    void take_step();
    void record(const StepOutcome& outcome, double learning_rate, double seconds, double data_wait_seconds);
    void guard_numbers(const StepOutcome& outcome);
    void evaluate_held_out();
    void save();
    bool due(std::int64_t every) const { return every > 0 && step_ % every == 0; }
    std::int64_t total_steps() const { return parts_.experiment.schedule.total_steps; }

    TrainerParts parts_;
    StopRequest stop_;
    CheckpointStore store_;
    RunRecords records_;
    Stragglers stragglers_;
    std::int64_t step_ = 0;  ///< completed optimizer updates
    std::int64_t step_saved_ = -1, step_evaluated_ = -1;
    std::int64_t skipped_in_a_row_ = 0, skipped_ = 0;
};

}  // namespace bertpretrain
