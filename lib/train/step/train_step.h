#pragma once
// One optimizer step: forward and backward over the micro-batches, reduction of final gradients, update, gather.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "batches/micro_batch.h"
#include "model/model.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/gradient_buckets.h"
#include "parallel/joint_gather.h"
#include "parallel/world.h"
#include "plan/run_plan.h"
#include "telemetry/phase_clock.h"
#include "telemetry/step_record.h"
#include "train/step/step_counts.h"
#include "train/step/stream_stopwatch.h"
#include "train/stop/stop_agreement.h"

namespace bertpretrain {

/// One rank's times in a step.
struct RankTimes {
    double data_seconds = 0;     ///< waiting for samples
    double compute_seconds = 0;  ///< forward and backward; on a GPU only from the first loss to the last gradient
};

/// Sums over a source's samples of a step, over all ranks.
struct SourceSums {
    double mlm_loss = 0, mlm_correct = 0, nsp_loss = 0;
    double masked = 0, sequences = 0;
};

/// The results of one step, over all ranks.
struct StepOutcome {
    double mlm_loss = 0, nsp_loss = 0, mlm_accuracy = 0;
    double grad_norm = 0;
    bool skipped = false;      ///< loss or gradient was not finite: the weights are unchanged
    bool interrupted = false;  ///< all ranks agreed to leave early: the weights are unchanged and all other fields unset
    std::int64_t sequences = 0, tokens = 0, masked = 0;
    double square_lengths = 0;  ///< sum of squared sequence lengths: the cost of attention
    Traffic traffic;            ///< of this rank
    std::vector<RankTimes> ranks;
    std::vector<SourceSums> sources;  ///< empty with one source
};

/// Returns the part of a step's record that the samples and weights decide: its numbers, losses, accuracy and gradient norm.
StepRecord record_of(const StepOutcome& outcome, std::int64_t step, double learning_rate, const RunPlan& plan);

class TrainStep {
public:
    /// Called while the gradients are those of this rank's first micro-batch. @param sums_S4 of its losses (LossSums)
    using AfterFirst = std::function<void(const at::Tensor& sums_S4)>;

    /// All arguments must outlive this object.
    /// @param zero_stage 0: `optimizer` works on whole tensors and does not communicate
    /// @param sources that the batches' samples come from
    TrainStep(const Model& model, const FlatParameters& parameters, GradientBuckets& buckets, ShardedOptimizer& optimizer,
              World& world, LossMean loss_mean, std::int64_t zero_stage, std::size_t sources = 1);

    /// Runs one step; all ranks call it together. Returns while the new weights are still being gathered: see settle().
    /// @param whole counts of all ranks' batches
    /// @param step number of this update, 1 for the first
    /// @param stop checked between micro-batches
    /// @param before_gather called before the gather, while no collective is in flight, so that its messages do not queue after
    /// the new weights. Neither its traffic nor that of attach() is counted.
    /// @param after_first may be empty; not called where a rank has a single micro-batch
    StepOutcome run(const GlobalBatch& batch, const StepCounts& whole, double learning_rate, std::int64_t step,
                    StopAgreement& stop, PhaseClock& clock, const std::function<void()>& before_gather,
                    const AfterFirst& after_first = {});

    /// Makes the next run() gather some numbers of each rank with the message that sums the losses. An interrupted run() does
    /// not.
    /// @param numbers called then, by this thread; returns as many numbers on every rank
    /// @param use called with the numbers of all ranks, before the update
    void attach(std::function<std::vector<double>()> numbers, JointGather::Use use) {
        attached_.push_back({std::move(numbers), std::move(use)});
    }
    /// The same, for an object with word() and hear(), which must outlive the next run().
    template <class Speaker>
    void attach(Speaker& speaker) {
        attach([&speaker] { return speaker.word(); }, [&speaker](const auto& of_all) { speaker.hear(of_all); });
    }

    /// Computes the losses and gradients of one micro-batch as run() does for the first of a step, and no update. Call it between
    /// steps; it overwrites the gradients. @param whole as in run() @returns sums of its losses, S x 4, on the device
    at::Tensor compute(const MicroBatch& micro, const StepCounts& whole, PhaseClock& clock);

    /// Updates the model's compute-dtype weights from the optimizer's fp32 weights; all ranks call it together.
    void publish_weights();

    /// Waits until all weights have been gathered; on a GPU, work that is queued from now on waits. Call it before anything other
    /// than run() uses the model.
    void settle() { buckets_.wait_all(); }

    /// Waits until all ranks have gathered all weights, on the host. Call it before this rank's connections end: on a GPU another
    /// rank's gather may still run after settle(). All ranks call it together.
    void settle_all_ranks();

private:
    LossScale loss_scale(const StepCounts& whole, const MicroBatch& micro) const;
    /// @returns false if the ranks agreed to leave early
    bool accumulate(const GlobalBatch& batch, const StepCounts& whole, const at::Tensor& sums_CS4, StopAgreement& stop,
                    PhaseClock& clock, const AfterFirst& after_first);
    ParameterMoves moves(bool last_micro_batch, PhaseClock& clock);
    /// Adds this rank's sums to the message that all ranks exchange after backward; it fills the outcome.
    /// @param sums_CS4 on the host, by micro-batch and source
    void add_sums(JointGather& message, StepOutcome& outcome, const GlobalBatch& batch, const StepCounts& whole,
                  const at::Tensor& sums_CS4, RankTimes own_times) const;
    /// Adds the sums of each source, if there are several.
    void add_sources(JointGather& message, StepOutcome& outcome, const GlobalBatch& batch, const at::Tensor& sums_CS4) const;
    /// Adds the numbers of attach(). @returns the bytes that this rank sends for them
    double add_attached(JointGather& message);
    /// Sends the message, with what the update must know of all ranks.
    /// @param finite whether this rank's losses are @param own_sums ShardedOptimizer::gradient_sums()
    /// @returns what ShardedOptimizer::update() takes, or nullopt where the losses of some rank are not finite
    std::optional<std::vector<double>> exchange(JointGather& message, bool finite, std::vector<double> own_sums);

    const Model& model_;
    const FlatParameters& parameters_;
    GradientBuckets& buckets_;
    ShardedOptimizer& optimizer_;
    World& world_;
    WorldExchange between_ranks_;
    NoExchange within_rank_;
    LossMean loss_mean_;
    std::int64_t zero_stage_;
    std::size_t sources_;
    struct Attached {
        std::function<std::vector<double>()> numbers;
        JointGather::Use use;
    };
    std::vector<Attached> attached_;
    std::size_t next_bucket_ = 0;  ///< first bucket whose reduction has not begun in this step
    StreamStopwatch computing_;  ///< covers the part without waits for other ranks: after the gathers, before the reductions end
};

}  // namespace bertpretrain
