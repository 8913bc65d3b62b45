#pragma once
// One optimizer step: forward and backward over the micro-batches, gradients reduced as they become final, update, gather.

#include <cstdint>

#include "batches/micro_batch.h"
#include "model/bert.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/block_sum_exchange.h"
#include "parallel/gradient_buckets.h"
#include "parallel/world.h"

namespace bertpretrain {

enum class LossMean { global, micro_batch };

/// What one step measured, over all ranks.
struct StepOutcome {
    double mlm_loss = 0, nsp_loss = 0, mlm_accuracy = 0;
    double grad_norm = 0;
    bool skipped = false;
    std::int64_t sequences = 0, tokens = 0, masked = 0;
    double square_lengths = 0;  ///< sum of squared sequence lengths: the cost of attention
};

class TrainStep {
public:
    /// All parts must outlive it.
    TrainStep(const Bert& bert, const FlatParameters& parameters, GradientBuckets& buckets, ShardedOptimizer& optimizer,
              World& world, LossMean loss_mean);

    /// @param step the number of this update, 1 for the first
    StepOutcome run(const GlobalBatch& batch, double learning_rate, std::int64_t step);

    /// Makes the weights that the model computes with from the optimizer's fp32 ones; all ranks call it together.
    void publish_weights();

private:
    GlobalBatch counts_of_all(const GlobalBatch& own);
    LossScale loss_scale(const GlobalBatch& whole, const MicroBatch& micro, std::int64_t micro_batches) const;
    void accumulate(const GlobalBatch& batch, const GlobalBatch& whole, std::int64_t micro_batches, const at::Tensor& totals_C4);
    void publish_exact();
    StepOutcome summarize(const GlobalBatch& batch, const GlobalBatch& whole, std::int64_t micro_batches,
                          const at::Tensor& totals_C4);

    const Bert& bert_;
    const FlatParameters& parameters_;
    GradientBuckets& buckets_;
    ShardedOptimizer& optimizer_;
    World& world_;
    WorldExchange exchange_;
    LossMean loss_mean_;
};

}  // namespace bertpretrain
