#include "train/step/train_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include <ATen/ATen.h>

#include "batches/batch_copier.h"
#include "core/clock.h"
#include "model/fp8_scales.h"
#include "operations/device_check.h"

namespace bertpretrain {
namespace {

double inverse(std::int64_t count) { return 1.0 / static_cast<double>(std::max<std::int64_t>(1, count)); }

double squared_lengths(const MicroBatch& micro) {
    double sum = 0;
    for (std::int64_t b = 0; b < micro.layout.sequences(); ++b) {
        const auto length = static_cast<double>(micro.layout.length(b));
        sum += length * length;
    }
    return sum;
}

/// What a rank tells the others about its part of a step.
struct RankSums {
    static constexpr std::size_t count = 6;
    double mlm_loss = 0, nsp_loss = 0, mlm_correct = 0, square_lengths = 0;  ///< losses are scaled: their sum is the mean
    RankTimes times;

    std::array<double, count> numbers() const {
        return {mlm_loss, nsp_loss, mlm_correct, square_lengths, times.data_seconds, times.compute_seconds};
    }
    static RankSums of(std::span<const double, count> numbers) {
        return {numbers[0], numbers[1], numbers[2], numbers[3], {numbers[4], numbers[5]}};
    }
};

/// Queues a copy to pinned host memory, valid once the device's stream has been synchronized. Returns a CPU tensor unchanged.
at::Tensor queue_copy_to_host(const at::Tensor& tensor) {
    if (tensor.device().is_cpu()) return tensor;
    const at::Tensor host = at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()).pinned_memory(true));
    return host.copy_(tensor, /*non_blocking=*/true);
}

}  // namespace

StepRecord record_of(const StepOutcome& outcome, std::int64_t step, double learning_rate, const RunPlan& plan) {
    StepRecord record;
    record.step = step;
    record.samples = plan.settings.batch.sizes().samples_before(step + 1);
    record.loss = outcome.mlm_loss + outcome.nsp_loss;
    record.mlm_loss = outcome.mlm_loss;
    record.next_sentence = shape_of(plan.settings.model).next_sentence;
    record.nsp_loss = outcome.nsp_loss;
    record.mlm_accuracy = outcome.mlm_accuracy;
    record.learning_rate = learning_rate;
    record.grad_norm = outcome.grad_norm;
    return record;
}

TrainStep::TrainStep(const Model& model, const FlatParameters& parameters, GradientBuckets& buckets, ShardedOptimizer& optimizer,
                     World& world, LossMean loss_mean, std::int64_t zero_stage, std::size_t sources)
    : model_(model),
      parameters_(parameters),
      buckets_(buckets),
      optimizer_(optimizer),
      world_(world),
      between_ranks_(world),
      loss_mean_(loss_mean),
      zero_stage_(zero_stage),
      sources_(sources),
      computing_(parameters.device()) {}

LossScale TrainStep::loss_scale(const StepCounts& whole, const MicroBatch& micro) const {
    if (loss_mean_ == LossMean::global) return {inverse(whole.masked), inverse(whole.sequences)};
    return {inverse(micro.masked() * whole.micro_batches), inverse(micro.sequences() * whole.micro_batches)};
}

ParameterMoves TrainStep::moves(bool last_micro_batch, PhaseClock& clock) {
    const std::vector<PlacedParameter>& placed = parameters_.layout().parameters();
    ParameterMoves moves;
    moves.needed = [this, &placed, &clock](std::size_t first) {
        clock.enter(Phase::communication);
        buckets_.wait_gathered(placed[first].bucket);
        if (first == 0) computing_.start();
        clock.enter(first == 0 ? Phase::backward : Phase::forward);  // the heads come last and start with backward
    };
    if (last_micro_batch)
        moves.final = [this, &placed](std::size_t count) {
            const std::size_t unfinished = count < placed.size() ? placed[count].bucket : parameters_.layout().buckets().size();
            for (; next_bucket_ < unfinished; ++next_bucket_) buckets_.ready(next_bucket_);
        };
    return moves;
}

bool TrainStep::accumulate(const GlobalBatch& batch, const StepCounts& whole, const at::Tensor& sums_CS4, StopAgreement& stop,
                           PhaseClock& clock, const AfterFirst& after_first) {
    next_bucket_ = 0;
    if (Fp8Scales* const fp8 = model_.fp8_scales()) fp8->begin_step();
    const auto count = static_cast<std::int64_t>(batch.micro_batches.size());
    if (count > 0) parameters_.begin_gradients();
    else parameters_.zero_gradients();
    stop.begin();
    for (std::int64_t i = 0; i < count; ++i) {
        // At these borders no rank has begun its last micro-batch, in which gradients are reduced.
        if (i > 0 && i < whole.fewest_micro_batches) {
            clock.enter(Phase::communication);
            if (stop.leave()) return false;
        }
        const MicroBatch& micro = batch.micro_batches[static_cast<std::size_t>(i)];
        clock.enter(Phase::forward);
        wait_for_copy(micro);
        model_.forward_backward(micro, loss_scale(whole, micro), LossSums(sums_CS4[i]), moves(i + 1 == count, clock),
                                /*accumulate=*/i > 0);
        if (i == 0 && after_first && whole.fewest_micro_batches > 1) after_first(sums_CS4[0]);
    }
    if (count > 0) return true;
    settle();
    moves(true, clock).final(parameters_.layout().parameters().size());
    return true;
}

at::Tensor TrainStep::compute(const MicroBatch& micro, const StepCounts& whole, PhaseClock& clock) {
    clock.enter(Phase::forward);
    wait_for_copy(micro);
    if (Fp8Scales* const fp8 = model_.fp8_scales()) fp8->begin_step();
    parameters_.begin_gradients();
    at::Tensor sums_S4 = at::zeros({static_cast<std::int64_t>(sources_), LossSums::count},
                                   at::TensorOptions(parameters_.device()).dtype(at::kDouble));
    model_.forward_backward(micro, loss_scale(whole, micro), LossSums(sums_S4), moves(false, clock), /*accumulate=*/false);
    return sums_S4;
}

std::optional<std::vector<double>> TrainStep::exchange(JointGather& message, bool finite, std::vector<double> own_sums) {
    bool all_finite = true;
    message.add({finite ? 1.0 : 0.0}, [&](const std::vector<double>& of_all) {
        all_finite = std::find(of_all.begin(), of_all.end(), 0.0) == of_all.end();
    });
    std::vector<double> gathered_sums;
    if (zero_stage_ == 0) gathered_sums = std::move(own_sums);  // of whole tensors, equal on all ranks
    else message.add(std::move(own_sums), [&](std::vector<double> of_all) { gathered_sums = std::move(of_all); });
    message.run(world_);
    if (!all_finite) return std::nullopt;
    return gathered_sums;
}

StepOutcome TrainStep::run(const GlobalBatch& batch, const StepCounts& whole, double learning_rate, std::int64_t step,
                           StopAgreement& stop, PhaseClock& clock, const std::function<void()>& before_gather,
                           const AfterFirst& after_first) {
    const double begin = seconds_now();
    const Traffic before = world_.traffic();
    const at::Tensor sums_CS4 =
        at::zeros({static_cast<std::int64_t>(batch.micro_batches.size()), static_cast<std::int64_t>(sources_), LossSums::count},
                  at::TensorOptions(parameters_.device()).dtype(at::kDouble));
    computing_.reset();
    StepOutcome outcome;
    if (!accumulate(batch, whole, sums_CS4, stop, clock, after_first)) {
        attached_.clear();
        outcome.interrupted = true;
        return outcome;
    }
    const at::Tensor sums_on_host_CS4 = queue_copy_to_host(sums_CS4);
    const double of_stream = computing_.stop();  // waits for the GPU, so that its remaining work does not count in later phases
    const double waited = (world_.traffic() - before).waited_seconds;
    const double own_seconds = parameters_.device().is_cpu() ? seconds_now() - begin - waited : of_stream;
    clock.enter(Phase::communication);
    const at::Tensor gradient_slice = buckets_.finish();
    clock.enter(Phase::update);
    std::vector<double> own_sums = optimizer_.gradient_sums(gradient_slice);
    JointGather message;
    add_sums(message, outcome, batch, whole, sums_on_host_CS4, {batch.data_wait_seconds, own_seconds});
    add_sources(message, outcome, batch, sums_on_host_CS4);
    if (Fp8Scales* const fp8 = model_.fp8_scales()) message.add(fp8->word(), [fp8](const auto& of_all) { fp8->hear(of_all); });
    const double attached_bytes = add_attached(message);
    const bool finite = std::isfinite(sums_on_host_CS4.sum().item<double>());
    clock.enter(Phase::communication);
    const auto gathered_sums = exchange(message, finite, std::move(own_sums));
    clock.enter(Phase::update);
    BlockSumExchange& shards = zero_stage_ == 0 ? static_cast<BlockSumExchange&>(within_rank_) : between_ranks_;
    UpdateResult update{std::numeric_limits<double>::quiet_NaN(), true};
    if (gathered_sums)
        update = optimizer_.update(gradient_slice, *gathered_sums, parameters_.compute_weights(), learning_rate, step, shards);
    outcome.grad_norm = update.grad_norm;
    outcome.skipped = update.skipped;
    clock.enter(Phase::communication);
    const Traffic own = world_.traffic();
    before_gather();
    const Traffic not_counted = world_.traffic() - own;
    clock.enter(Phase::communication);
    buckets_.start_gather(optimizer_.state().master);
    outcome.traffic = world_.traffic() - before - not_counted;
    // Attached numbers are sent by the clock, but a step's bytes must not depend on it.
    outcome.traffic.bytes_sent -= stop.bytes_sent() + attached_bytes;
    return outcome;
}

void TrainStep::add_sums(JointGather& message, StepOutcome& outcome, const GlobalBatch& batch, const StepCounts& whole,
                         const at::Tensor& sums_CS4, RankTimes own_times) const {
    RankSums own;
    for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
        const MicroBatch& micro = batch.micro_batches[i];
        const LossScale scale = loss_scale(whole, micro);
        const LossSums sums(sums_CS4[static_cast<std::int64_t>(i)]);
        for (std::size_t source = 0; source < sources_; ++source) {
            const LossValues losses = sums.values(source);
            own.mlm_loss += losses.mlm_loss * scale.mlm;
            own.nsp_loss += losses.nsp_loss * scale.nsp;
            own.mlm_correct += losses.mlm_correct;
        }
        own.square_lengths += squared_lengths(micro);
    }
    own.times = own_times;
    outcome.sequences = whole.sequences;
    outcome.tokens = whole.tokens;
    outcome.masked = whole.masked;
    const std::array numbers = own.numbers();
    message.add({numbers.begin(), numbers.end()},
                [&outcome, per_masked = inverse(whole.masked)](const std::vector<double>& of_all) {
                    double correct = 0;
                    for (std::size_t i = 0; i < of_all.size(); i += RankSums::count) {
                        const RankSums rank = RankSums::of(std::span(of_all).subspan(i).first<RankSums::count>());
                        outcome.mlm_loss += rank.mlm_loss;
                        outcome.nsp_loss += rank.nsp_loss;
                        correct += rank.mlm_correct;
                        outcome.square_lengths += rank.square_lengths;
                        outcome.ranks.push_back(rank.times);
                    }
                    outcome.mlm_accuracy = correct * per_masked;
                });
}

void TrainStep::add_sources(JointGather& message, StepOutcome& outcome, const GlobalBatch& batch,
                            const at::Tensor& sums_CS4) const {
    if (sources_ == 1) return;
    std::vector<SourceSums> own(sources_);
    for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
        const LossSums sums(sums_CS4[static_cast<std::int64_t>(i)]);
        for (const SourcePart& part : batch.micro_batches[i].source_parts) {
            const LossValues losses = sums.values(part.source);
            SourceSums& source = own[part.source];
            source.mlm_loss += losses.mlm_loss;
            source.mlm_correct += losses.mlm_correct;
            source.nsp_loss += losses.nsp_loss;
            source.masked += static_cast<double>(part.masked);
            source.sequences += static_cast<double>(part.sequences);
        }
    }
    std::vector<double> numbers;
    for (const SourceSums& source : own)
        for (const double number : {source.mlm_loss, source.mlm_correct, source.nsp_loss, source.masked, source.sequences})
            numbers.push_back(number);
    message.add(std::move(numbers), [&outcome, sources = sources_](const std::vector<double>& of_all) {
        outcome.sources.resize(sources);
        for (std::size_t at = 0; at < of_all.size(); at += 5) {
            SourceSums& source = outcome.sources[at / 5 % sources];
            source.mlm_loss += of_all[at];
            source.mlm_correct += of_all[at + 1];
            source.nsp_loss += of_all[at + 2];
            source.masked += of_all[at + 3];
            source.sequences += of_all[at + 4];
        }
    });
}

double TrainStep::add_attached(JointGather& message) {
    std::size_t count = 0;
    for (Attached& attached : std::exchange(attached_, {})) {
        std::vector<double> numbers = attached.numbers();
        count += numbers.size();
        message.add(std::move(numbers), std::move(attached.use));
    }
    return static_cast<double>(count * sizeof(double)) * static_cast<double>(world_.size() - 1);
}

void TrainStep::settle_all_ranks() {
    settle();
    synchronize(parameters_.device());
    world_.barrier();
}

void TrainStep::publish_weights() {
    optimizer_.copy_weights_into(parameters_.compute_weights());
    buckets_.start_gather(optimizer_.state().master);
    settle();
}

}  // namespace bertpretrain
