#include "train/trainer.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "config/write.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "model/initialize.h"
#include "parallel/together.h"
#include "train/save_together.h"
#include "train/snapshot.h"

namespace bertpretrain {
namespace {

/// After so many skipped updates in a row the run has failed: more data will not mend it.
constexpr std::int64_t skipped_updates_allowed = 10;

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

Trainer::Trainer(TrainerParts parts)
    : parts_(std::move(parts)),
      store_(parts_.folder->paths().checkpoints()),
      records_(*parts_.folder, total_steps(), parts_.unigram_cross_entropy, parts_.world->rank() == 0),
      stragglers_(parts_.experiment.parallel.straggler_report_steps) {
    restore();
}

int Trainer::run() {
    while (step_ < total_steps()) {
        take_step();
        const bool last = step_ == total_steps();
        const int signal = static_cast<int>(parts_.world->agree_on_largest(stop_.signal()));
        if (signal == 0 && (due(parts_.experiment.evaluation.every_steps) || last)) evaluate_held_out();
        if (due(parts_.experiment.checkpoint.save_every_steps) || last || signal != 0) save();
        if (signal != 0) {
            records_.clear_progress();
            if (parts_.world->rank() == 0)
                log_info(concat("stopped by signal ", signal, " after step ", step_, "; the same command goes on from there"));
            records_.event("stop", {{"step", step_}, {"signal", signal}});
            parts_.step->settle();
            return signal;
        }
    }
    records_.clear_progress();
    records_.event("finish", {{"step", step_}});
    records_.draw_losses();
    parts_.step->settle();
    parts_.world->barrier();  // nobody leaves while another still needs its connections
    return 0;
}

void Trainer::take_step() {
    const double start = seconds_now();
    const GlobalBatch batch = parts_.loader->next();
    const std::int64_t number = step_ + 1;
    const double rate = learning_rate_at(parts_.experiment.schedule, parts_.experiment.optimizer.learning_rate, number);
    const StepOutcome outcome = parts_.step->run(batch, rate, number);
    step_ = number;
    record(outcome, rate, seconds_now() - start, batch.data_wait_seconds);
    guard_numbers(outcome);
    parts_.world->set_patience(milliseconds(parts_.experiment.parallel.timeout_seconds));
}

void Trainer::record(const StepOutcome& outcome, double learning_rate, double seconds, double data_wait_seconds) {
    StepRecord record;
    record.step = step_;
    record.samples = step_ * parts_.global_batch;
    record.loss = outcome.mlm_loss + outcome.nsp_loss;
    record.mlm_loss = outcome.mlm_loss;
    record.nsp_loss = outcome.nsp_loss;
    record.mlm_accuracy = outcome.mlm_accuracy;
    record.learning_rate = learning_rate;
    record.grad_norm = outcome.grad_norm;
    record.sequences_per_second = static_cast<double>(outcome.sequences) / seconds;
    record.tokens_per_second = static_cast<double>(outcome.tokens) / seconds;
    record.model_tflops_per_second =
        model_flops(parts_.experiment.model, static_cast<double>(outcome.tokens), outcome.square_lengths,
                    static_cast<double>(outcome.masked), static_cast<double>(outcome.sequences)) /
        seconds * 1e-12;
    record.step_seconds = seconds;
    record.data_wait_seconds = data_wait_seconds;
    record.bytes_sent = outcome.traffic.bytes_sent;
    record.communication_seconds = outcome.traffic.busy_seconds;
    record.exposed_communication_seconds = outcome.traffic.waited_seconds;
    records_.add(record);
    if (const auto report = stragglers_.add(outcome.ranks); report && parts_.world->rank() == 0) {
        records_.clear_progress();
        log_info(*report);
    }
}

void Trainer::guard_numbers(const StepOutcome& outcome) {
    if (!outcome.skipped) {
        skipped_in_a_row_ = 0;
        return;
    }
    ++skipped_;
    ++skipped_in_a_row_;
    records_.clear_progress();
    log_warning(concat("step ", step_, ": the gradient is not finite; the update was skipped (", skipped_, " so far)"));
    records_.event("skipped_update", {{"step", step_}, {"loss", outcome.mlm_loss + outcome.nsp_loss}});
    if (skipped_in_a_row_ >= skipped_updates_allowed)
        throw NumbersError(
            concat("step ", step_, ": ", skipped_in_a_row_, " updates in a row had a gradient that is not finite; lower ",
                   "optimizer.learning_rate or lengthen the warm-up, and go on from an earlier checkpoint with --resume STEP"));
}

void Trainer::evaluate_held_out() {
    if (!parts_.held_out || step_evaluated_ == step_) return;
    parts_.step->settle();
    const EvaluationRecord record = evaluate(*parts_.bert, *parts_.held_out, *parts_.world, step_);
    step_evaluated_ = step_;
    records_.add(record);
}

void Trainer::save() {
    if (step_saved_ == step_) return;
    Snapshot snapshot =
        take_snapshot(parts_.experiment.model, parts_.parameters->layout(), parts_.world->rank(), parts_.optimizer->state());
    TrainingState& state = snapshot.state;
    state.step = step_;
    state.progress = {{"format_version", 1},
                      {"step", step_},
                      {"samples", step_ * parts_.global_batch},
                      {"global_batch_sequences", parts_.global_batch},
                      {"world_size", parts_.world->size()},
                      {"data_fingerprint", parts_.loader->fingerprint()},
                      {"skipped_updates", skipped_},
                      {"skipped_updates_in_a_row", skipped_in_a_row_}};
    state.settings = write_config(parts_.experiment);
    state.vocabulary = parts_.vocabulary;
    save_together(*parts_.world, store_, state);
    step_saved_ = step_;
    if (parts_.world->rank() == 0)
        store_.prune(parts_.experiment.checkpoint.keep_last, parts_.experiment.checkpoint.keep_every_steps);
}

void Trainer::restore() {
    const bool leads = parts_.world->rank() == 0;
    const ParameterLayout& layout = parts_.parameters->layout();
    const std::unique_ptr<CheckpointReader> reader = std::move(parts_.checkpoint);
    if (reader) {
        together(*parts_.world, [&] {
            refuse_changed_settings(*reader, parts_.experiment, parts_.global_batch, parts_.loader->fingerprint());
            restore_optimizer(*reader, layout, *parts_.optimizer);
        });
        step_ = step_saved_ = reader->step();
        skipped_ = reader->progress().value("skipped_updates", std::int64_t{0});
        skipped_in_a_row_ = reader->progress().value("skipped_updates_in_a_row", std::int64_t{0});
        if (leads) log_info(concat("going on from step ", step_, " (", reader->folder().string(), ")"));
    } else {
        initialize_weights(parts_.experiment.model, layout, parts_.optimizer->owned_runs(), parts_.experiment.training.seed,
                           parts_.optimizer->state().master);
        if (leads) log_info("fresh start: no checkpoint to go on from");
    }
    records_.event(reader ? "resume" : "start", {{"step", step_}, {"ranks", parts_.world->size()}});
    records_.cut_to_step(step_);
    parts_.step->publish_weights();
    parts_.loader->seek(step_ + 1);
    if (leads) write_atomically(parts_.folder->paths().settings(), write_config(parts_.experiment).dump(2) + "\n");
}

}  // namespace bertpretrain
