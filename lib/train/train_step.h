#pragma once
// One optimizer step: forward and backward over the micro-batches, gradients reduced as they become final, update, gather.

#include <cstdint>
#include <functional>

#include "batches/micro_batch.h"
#include "model/bert.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/block_sum_exchange.h"
#include "parallel/gradient_buckets.h"
#include "parallel/world.h"
#include "plan/run_plan.h"
#include "telemetry/phase_clock.h"
#include "train/step_counts.h"
#include "train/stop_agreement.h"
#include "train/stream_stopwatch.h"

namespace bertpretrain {

/// Where one rank's time went in a step.
struct RankTimes {
    double data_seconds = 0;     ///< waiting for samples
    double compute_seconds = 0;  ///< forward, backward, optimizer; on a GPU from the first loss to the last gradient
};

/// What one step measured, over all ranks.
struct StepOutcome {
    double mlm_loss = 0, nsp_loss = 0, mlm_accuracy = 0;
    double grad_norm = 0;
    bool skipped = false;      ///< loss or gradient were not finite: the weights are as before
    bool interrupted = false;  ///< left in the middle, as all ranks agreed: nothing has changed, and nothing else was measured
    std::int64_t sequences = 0, tokens = 0, masked = 0;
    double square_lengths = 0;  ///< sum of squared sequence lengths: the cost of attention
    Traffic traffic;            ///< of this rank
    std::vector<RankTimes> ranks;
};

class TrainStep {
public:
    /// All parts must outlive it.
    /// @param zero_stage 0: `optimizer` works on whole tensors and asks no other rank
    TrainStep(const Bert& bert, const FlatParameters& parameters, GradientBuckets& buckets, ShardedOptimizer& optimizer,
              World& world, LossMean loss_mean, std::int64_t zero_stage);

    /// Returns while the new weights are still on their way to the other ranks: see settle().
    /// @param whole of all ranks' batches
    /// @param step the number of this update, 1 for the first
    /// @param stop asked between micro-batches
    /// @param before_gather called when nothing is on its way: what ranks say to each other in it does not queue behind the new
    /// weights. Its traffic is not counted.
    StepOutcome run(const GlobalBatch& batch, const StepCounts& whole, double learning_rate, std::int64_t step,
                    StopAgreement& stop, PhaseClock& clock, const std::function<void()>& before_gather);

    /// Makes the weights that the model computes with from the optimizer's fp32 ones; all ranks call it together.
    void publish_weights();

    /// The weights of all ranks are here: needed before anything but run() computes with the model.
    void settle() { buckets_.wait_all(); }

private:
    LossScale loss_scale(const StepCounts& whole, const MicroBatch& micro) const;
    /// @returns whether all micro-batches were done
    bool accumulate(const GlobalBatch& batch, const StepCounts& whole, const at::Tensor& sums_C4, StopAgreement& stop,
                    PhaseClock& clock);
    ParameterMoves moves(bool last_micro_batch, PhaseClock& clock);
    UpdateResult update(bool finite, double learning_rate, std::int64_t step, PhaseClock& clock);
    /// @param sums_C4 on the host
    StepOutcome summarize(const GlobalBatch& batch, const StepCounts& whole, const at::Tensor& sums_C4, RankTimes own_times);

    const Bert& bert_;
    const FlatParameters& parameters_;
    GradientBuckets& buckets_;
    ShardedOptimizer& optimizer_;
    World& world_;
    WorldExchange between_ranks_;
    NoExchange within_rank_;
    LossMean loss_mean_;
    std::int64_t zero_stage_;
    std::size_t next_bucket_ = 0;  ///< the first that has not left in this step
    StreamStopwatch computing_;    ///< where no other rank is waited for: behind the gathers, before the gradients' sums
};

}  // namespace bertpretrain
