#include "train/train_step.h"

#include <ATen/ATen.h>

namespace bertpretrain {

TrainStep::TrainStep(const Bert& bert, const FlatParameters& parameters, GradientBuckets& buckets, ShardedOptimizer& optimizer,
                     World& world, LossMean loss_mean)
    : bert_(bert),
      parameters_(parameters),
      buckets_(buckets),
      optimizer_(optimizer),
      world_(world),
      exchange_(world),
      loss_mean_(loss_mean) {}

GlobalBatch TrainStep::counts_of_all(const GlobalBatch& own) {
    GlobalBatch whole;
    whole.sequences = world_.sum(own.sequences);
    whole.tokens = world_.sum(own.tokens);
    whole.masked = world_.sum(own.masked);
    return whole;
}

LossScale TrainStep::loss_scale(const GlobalBatch& whole, const MicroBatch& micro, std::int64_t micro_batches) const {
    const auto inverse = [](std::int64_t count) { return 1.0 / static_cast<double>(std::max<std::int64_t>(1, count)); };
    if (loss_mean_ == LossMean::global) return {inverse(whole.masked), inverse(whole.sequences)};
    return {inverse(micro.masked() * micro_batches), inverse(micro.sequences() * micro_batches)};
}

void TrainStep::accumulate(const GlobalBatch& batch, const GlobalBatch& whole, std::int64_t micro_batches,
                           const at::Tensor& totals_C4) {
    const std::vector<PlacedParameter>& placed = parameters_.layout().parameters();
    std::size_t next_bucket = 0;
    const auto send_final_buckets = [&](std::size_t final_count) {
        const std::size_t unfinished =
            final_count < placed.size() ? placed[final_count].bucket : parameters_.layout().buckets().size();
        for (; next_bucket < unfinished; ++next_bucket) buckets_.ready(next_bucket);
    };
    at::Tensor gradients = parameters_.gradients();
    gradients.zero_();
    const std::size_t count = batch.micro_batches.size();
    for (std::size_t i = 0; i < count; ++i) {
        const MicroBatch& micro = batch.micro_batches[i];
        const bool last = i + 1 == count;
        bert_.forward_backward(micro, loss_scale(whole, micro, micro_batches), totals_C4[static_cast<std::int64_t>(i)],
                               last ? ParametersFinal(send_final_buckets) : ParametersFinal());
    }
    if (count == 0) send_final_buckets(placed.size());
}

StepOutcome TrainStep::run(const GlobalBatch& batch, double learning_rate, std::int64_t step) {
    const GlobalBatch whole = counts_of_all(batch);
    const auto own_count = static_cast<std::int64_t>(batch.micro_batches.size());
    const std::int64_t micro_batches = world_.sum(own_count);
    const at::Tensor totals_C4 = at::zeros({own_count, 4}, at::TensorOptions(parameters_.device()).dtype(at::kDouble));
    accumulate(batch, whole, micro_batches, totals_C4);
    const at::Tensor& gradient_slice = buckets_.finish();
    const UpdateResult update = optimizer_.update(gradient_slice, buckets_.working_slice(), learning_rate, step, exchange_);
    buckets_.gather();
    publish_exact();
    StepOutcome outcome = summarize(batch, whole, micro_batches, totals_C4);
    outcome.grad_norm = update.grad_norm;
    outcome.skipped = update.skipped;
    return outcome;
}

StepOutcome TrainStep::summarize(const GlobalBatch& batch, const GlobalBatch& whole, std::int64_t micro_batches,
                                 const at::Tensor& totals_C4) {
    const at::Tensor on_host = totals_C4.cpu();
    const double* totals = on_host.data_ptr<double>();
    std::vector<double> sums(4, 0.0);  // mlm loss, nsp loss, correct, squared lengths
    for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
        const MicroBatch& micro = batch.micro_batches[i];
        const LossScale scale = loss_scale(whole, micro, micro_batches);
        sums[0] += totals[4 * i] * scale.mlm;
        sums[1] += totals[4 * i + 2] * scale.nsp;
        sums[2] += totals[4 * i + 1];
        for (std::size_t b = 0; b + 1 < micro.starts_B1.size(); ++b) {
            const auto length = static_cast<double>(micro.starts_B1[b + 1] - micro.starts_B1[b]);
            sums[3] += length * length;
        }
    }
    const std::vector<double> of_all = world_.all_gather(sums);
    std::vector<double> total(4, 0.0);
    for (std::size_t i = 0; i < of_all.size(); ++i) total[i % 4] += of_all[i];
    StepOutcome outcome;
    outcome.mlm_loss = total[0];
    outcome.nsp_loss = total[1];
    outcome.mlm_accuracy = total[2] / static_cast<double>(std::max<std::int64_t>(1, whole.masked));
    outcome.square_lengths = total[3];
    outcome.sequences = whole.sequences;
    outcome.tokens = whole.tokens;
    outcome.masked = whole.masked;
    return outcome;
}

void TrainStep::publish_exact() {
    const ParameterLayout& layout = parameters_.layout();
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
        const Bucket& bucket = layout.buckets()[b];
        if (bucket.begin < parameters_.exact_begin()) continue;
        const std::int64_t shards = layout.shards();
        const at::Tensor own = optimizer_.state().master.narrow(0, bucket.begin / shards, bucket.elements() / shards);
        world_.all_gather(own, parameters_.exact().narrow(0, bucket.begin - parameters_.exact_begin(), bucket.elements()))
            ->wait();
    }
}

void TrainStep::publish_weights() {
    buckets_.working_slice().copy_(optimizer_.state().master);
    buckets_.gather();
    publish_exact();
}

}  // namespace bertpretrain
