#include "train/train_step.h"

#include <ATen/ATen.h>

#include "core/clock.h"

namespace bertpretrain {
namespace {

double inverse(std::int64_t count) { return 1.0 / static_cast<double>(std::max<std::int64_t>(1, count)); }

double squared_lengths(const MicroBatch& micro) {
    double sum = 0;
    for (std::size_t b = 0; b + 1 < micro.starts_B1.size(); ++b) {
        const auto length = static_cast<double>(micro.starts_B1[b + 1] - micro.starts_B1[b]);
        sum += length * length;
    }
    return sum;
}

}  // namespace

TrainStep::TrainStep(const Bert& bert, const FlatParameters& parameters, GradientBuckets& buckets, ShardedOptimizer& optimizer,
                     World& world, LossMean loss_mean, std::int64_t zero_stage)
    : bert_(bert),
      parameters_(parameters),
      buckets_(buckets),
      optimizer_(optimizer),
      world_(world),
      between_ranks_(world),
      loss_mean_(loss_mean),
      zero_stage_(zero_stage) {}

TrainStep::Counts TrainStep::counts_of_all(const GlobalBatch& own) {
    const std::vector<double> counts{static_cast<double>(own.sequences), static_cast<double>(own.tokens),
                                     static_cast<double>(own.masked), static_cast<double>(own.micro_batches.size())};
    std::vector<std::int64_t> sums(counts.size(), 0);
    const std::vector<double> of_all = world_.all_gather(std::span<const double>(counts));
    for (std::size_t i = 0; i < of_all.size(); ++i) sums[i % counts.size()] += static_cast<std::int64_t>(of_all[i]);
    return {sums[0], sums[1], sums[2], sums[3]};
}

LossScale TrainStep::loss_scale(const Counts& whole, const MicroBatch& micro) const {
    if (loss_mean_ == LossMean::global) return {inverse(whole.masked), inverse(whole.sequences)};
    return {inverse(micro.masked() * whole.micro_batches), inverse(micro.sequences() * whole.micro_batches)};
}

ParameterMoves TrainStep::moves(bool first_micro_batch, bool last_micro_batch) {
    const std::vector<PlacedParameter>& placed = parameters_.layout().parameters();
    ParameterMoves moves;
    if (first_micro_batch) moves.needed = [this, &placed](std::size_t first) { buckets_.wait_gathered(placed[first].bucket); };
    if (last_micro_batch)
        moves.final = [this, &placed](std::size_t count) {
            const std::size_t unfinished = count < placed.size() ? placed[count].bucket : parameters_.layout().buckets().size();
            for (; next_bucket_ < unfinished; ++next_bucket_) buckets_.ready(next_bucket_);
        };
    return moves;
}

void TrainStep::accumulate(const GlobalBatch& batch, const Counts& whole, const at::Tensor& totals_C4) {
    next_bucket_ = 0;
    at::Tensor gradients = parameters_.gradients();
    gradients.zero_();
    const std::size_t count = batch.micro_batches.size();
    for (std::size_t i = 0; i < count; ++i) {
        const MicroBatch& micro = batch.micro_batches[i];
        bert_.forward_backward(micro, loss_scale(whole, micro), totals_C4[static_cast<std::int64_t>(i)],
                               moves(i == 0, i + 1 == count));
    }
    if (count > 0) return;
    settle();
    moves(true, true).final(parameters_.layout().parameters().size());
}

StepOutcome TrainStep::run(const GlobalBatch& batch, double learning_rate, std::int64_t step) {
    const double begin = seconds_now();
    const Traffic before = world_.traffic();
    const Counts whole = counts_of_all(batch);
    const at::Tensor totals_C4 = at::zeros({static_cast<std::int64_t>(batch.micro_batches.size()), 4},
                                           at::TensorOptions(parameters_.device()).dtype(at::kDouble));
    accumulate(batch, whole, totals_C4);
    BlockSumExchange& exchange = zero_stage_ == 0 ? static_cast<BlockSumExchange&>(within_rank_) : between_ranks_;
    const UpdateResult update = optimizer_.update(buckets_.finish(), parameters_.working(), learning_rate, step, exchange);
    buckets_.start_gather(optimizer_.state().master);
    const double waited = (world_.traffic() - before).waited_seconds;
    StepOutcome outcome = summarize(batch, whole, totals_C4, {batch.data_wait_seconds, seconds_now() - begin - waited});
    outcome.grad_norm = update.grad_norm;
    outcome.skipped = update.skipped;
    outcome.traffic = world_.traffic() - before;
    return outcome;
}

StepOutcome TrainStep::summarize(const GlobalBatch& batch, const Counts& whole, const at::Tensor& totals_C4,
                                 RankTimes own_times) {
    const at::Tensor on_host = totals_C4.cpu();
    const double* totals = on_host.data_ptr<double>();
    std::vector<double> own(6, 0.0);  // mlm loss, nsp loss, correct, squared lengths; then the two times
    for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
        const MicroBatch& micro = batch.micro_batches[i];
        const LossScale scale = loss_scale(whole, micro);
        own[0] += totals[4 * i] * scale.mlm;
        own[1] += totals[4 * i + 2] * scale.nsp;
        own[2] += totals[4 * i + 1];
        own[3] += squared_lengths(micro);
    }
    own[4] = own_times.data_seconds;
    own[5] = own_times.compute_seconds;
    const std::vector<double> of_all = world_.all_gather(std::span<const double>(own));
    StepOutcome outcome;
    double correct = 0;
    for (std::size_t i = 0; i < of_all.size(); i += own.size()) {
        outcome.mlm_loss += of_all[i];
        outcome.nsp_loss += of_all[i + 1];
        correct += of_all[i + 2];
        outcome.square_lengths += of_all[i + 3];
        outcome.ranks.push_back({of_all[i + 4], of_all[i + 5]});
    }
    outcome.mlm_accuracy = correct * inverse(whole.masked);
    outcome.sequences = whole.sequences;
    outcome.tokens = whole.tokens;
    outcome.masked = whole.masked;
    return outcome;
}

void TrainStep::publish_weights() {
    optimizer_.copy_weights_into(parameters_.working());
    buckets_.start_gather(optimizer_.state().master);
    settle();
}

}  // namespace bertpretrain
