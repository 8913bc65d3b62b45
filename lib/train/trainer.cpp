#include "train/trainer.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include "config/write.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/threads/core_waiting.h"
#include "core/threads/thread_traces.h"
#include "core/threads/threads.h"
#include "model/fp8_scales.h"
#include "parallel/together.h"
#include "plan/kept_choices.h"
#include "telemetry/trace.h"
#include "train/audit/run_sessions.h"
#include "train/start/init_from.h"
#include "train/start/restore_optimizer.h"
#include "train/step/source_records.h"
#include "train/stop/hung_run.h"

namespace bertpretrain {
namespace {

std::optional<std::int64_t> gpu_of(const TrainerParts& parts) {
    const at::Device device = parts.parameters->device();
    return device.is_cpu() ? std::nullopt : std::optional<std::int64_t>(device.index());
}

/// The host's cores that a rank of it may use.
double cores_of(const TrainerParts& parts) {
    return static_cast<double>(available_cores()) / static_cast<double>(parts.launch.local_world_size);
}

std::string kernels_of(const TrainerParts& parts) { return kernels_on(parts.parameters->device()); }

std::unique_ptr<RunRecords> open_records(const TrainerParts& parts) {
    std::unique_ptr<RunRecords> records;
    const std::int64_t total = parts.plan.settings.schedule.total_steps;
    const auto steps_left = [sizes = parts.loader->batch_sizes(), total](std::int64_t step) {
        return sizes.steps_of(sizes.of(step), step, total);
    };
    together(*parts.world, [&] {
        records =
            std::make_unique<RunRecords>(*parts.folder, total, parts.plan.data.unigram_cross_entropy, parts.world->rank() == 0,
                                         parts.metrics_address, parts.plan.settings.telemetry.command, steps_left);
    });
    return records;
}

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

Trainer::Trainer(TrainerParts parts, StopRequest& requests)
    : parts_(std::move(parts)),
      requests_(requests),
      records_(open_records(parts_)),
      saver_(*parts_.world, settings().checkpoint, CheckpointStore(parts_.folder->paths().checkpoints()), parts_.sees_folder,
             *records_, *parts_.folder, clock_.sign_of_saving()),
      usage_(gpu_of(parts_), cores_of(parts_)),
      devices_(*parts_.world, gpu_of(parts_), cores_of(parts_), parts_.launch.local_rank == 0),
      stragglers_(settings().parallel.straggler_report_steps),
      contention_(at::get_num_threads()),
      numbers_(settings().training.max_skipped_updates, settings().training.loss_spike_deviations),
      cross_check_(*parts_.world, *parts_.loader, *parts_.step, *parts_.parameters, clock_),
      target_(settings().schedule.stop_at),
      spending_(parts_.world->rank() == 0 ? open_spending(parts_.limits, parts_.plan, parts_.folder->paths()) : std::nullopt),
      stop_in_step_(*parts_.world, requests),
      stop_in_evaluation_(*parts_.world, requests),
      watchdog_(settings().watchdog, clock_,
                [this](const std::string& what) { end_hung_run(parts_.exit_record, parts_.launch, what); }) {
    saver_.keep_mirror(parts_.mirror);
    restore();
}

int Trainer::run() {
    prepare_thread_traces();
    requests_.await_requests();
    for (;;) {
        const TraceStep step;
        if (const auto lost = records_->lost_folder())
            requests_.ask({lost->is_taken ? StopReason::Kind::folder_taken : StopReason::Kind::folder_moved});
        saver_.look();
        if ((due(settings().evaluation.every_steps) || finished()) && !evaluate_held_out())
            return stop(StopReason::of_code(parts_.world->agree_on_largest(requests_.reason().code())));
        if (due(settings().checkpoint.save_every_steps) || saver_.repeats_after(step_) || finished()) save(!finished());
        if (finished()) break;
        look_at_limits();
        const StepOpening opening = next_opening();
        if (opening.failure) save_and_rethrow(opening.failure);
        if (opening.stop) return stop(opening.stop);
        if (opening.save) save(true);
        take_step(opening);
    }
    finish();
    return 0;
}

void Trainer::look_at_limits() {
    if (!spending_ || limit_) return;
    spending_->saved(saver_.longest_save_seconds());
    limit_ = spending_->reason_to_stop(seconds_now());
    if (limit_) requests_.ask({StopReason::Kind::limit});
}

StepOpening Trainer::next_opening() {
    if (next_) return *std::exchange(next_, std::nullopt);
    return StepOpener(*parts_.world, *parts_.loader, requests_, clock_, devices_.due()).open();
}

void Trainer::take_step(const StepOpening& opening) {
    double start = seconds_now();
    const std::int64_t number = step_ + 1;
    const double rate = learning_rate_at(settings().schedule, settings().optimizer.learning_rate, number);
    std::optional<StepOpener> next;
    const auto before_gather = [&] {
        const double begin = seconds_now();
        if (next) next_ = next->open();
        start += seconds_now() - begin;  // the next step's
    };
    std::vector<double> device_numbers;
    devices_.look();
    if (opening.devices)
        parts_.step->attach([this] { return devices_.numbers(); }, [&](auto of_all) { device_numbers = std::move(of_all); });
    parts_.step->attach(saver_);
    if (number < total_steps())
        parts_.step->attach(next.emplace(*parts_.world, *parts_.loader, requests_, clock_, devices_.due()));
    const StepOutcome outcome = compute(opening, number, rate, before_gather);
    if (outcome.interrupted) return;  // the next opening knows why
    step_ = number;
    clock_.enter(Phase::saving);
    const double waited = opening.batch.data_wait_seconds;
    record(outcome, rate, seconds_now() - start + waited, waited);
    if (opening.devices) records_->add(devices_.record(step_, device_numbers));
    target_.add_step(outcome.mlm_loss);
    if (spending_) spending_->step_done(seconds_now(), outcome.sequences);
    const double loss = outcome.mlm_loss + outcome.nsp_loss;
    if (auto trouble = numbers_.add(step_, loss, outcome.grad_norm, outcome.skipped)) tell(std::move(*trouble));
    if (numbers_.is_stuck()) saver_.make_room();  // on all ranks: what was good and is being written is worth its end
    numbers_.require_progress(step_, saver_.step_saved());
    parts_.world->set_timeout(milliseconds(settings().parallel.timeout_seconds));
    watchdog_.first_step_is_done();
}

StepOutcome Trainer::compute(const StepOpening& opening, std::int64_t number, double rate,
                             const std::function<void()>& open_next) {
    try {
        const TrainStep::AfterFirst after_first = cross_check_.begin(number, opening);
        return parts_.step->run(opening.batch, opening.counts, rate, updates_before_ + number - numbers_.counts().skipped,
                                stop_in_step_, clock_, open_next, after_first);
    } catch (const HardwareError& error) {  // on all ranks
        set_unverified_aside(error, number);
        throw;
    }
}

void Trainer::record(const StepOutcome& outcome, double learning_rate, double seconds, double data_wait_seconds) {
    StepRecord record = record_of(outcome, step_, learning_rate, parts_.plan);
    record.sequences_per_second = static_cast<double>(outcome.sequences) / seconds;
    record.tokens_per_second = static_cast<double>(outcome.tokens) / seconds;
    record.model_tflops_per_second = model_flops(settings().model, static_cast<double>(outcome.tokens), outcome.square_lengths,
                                                 static_cast<double>(outcome.masked), static_cast<double>(outcome.sequences)) /
                                     seconds * 1e-12;
    record.mfu = record.model_tflops_per_second * 1e12 / *parts_.plan.compute.gemm_flops;
    record.step_seconds = seconds;
    record.data_wait_seconds = data_wait_seconds;
    record.bytes_sent = outcome.traffic.bytes_sent;
    record.communication_seconds = outcome.traffic.busy_seconds;
    record.exposed_communication_seconds = outcome.traffic.waited_seconds;
    const PhaseSeconds phases = clock_.take_seconds();
    const auto in = [&](Phase phase) { return phases[static_cast<std::size_t>(phase)]; };
    record.forward_seconds = in(Phase::forward);
    record.backward_seconds = in(Phase::backward);
    record.update_seconds = in(Phase::update);
    record.saving_seconds = in(Phase::saving);
    record.evaluation_seconds = in(Phase::evaluation);
    const DeviceUsage usage = usage_.sample();
    record.device_utilization = usage.utilization;
    record.memory_bytes = usage.memory_bytes;
    record.sources = source_records(outcome.sources, parts_.plan.data.source_names, *parts_.loader, record);
    records_->add(record);
    if (const auto report = stragglers_.add(outcome.ranks); report && parts_.world->rank() == 0) {
        records_->clear_progress();
        log_info(*report);
    }
    if (gpu_of(parts_)) return;
    if (const auto warning = contention_.add(seconds_now(), seconds_without_core())) {
        records_->clear_progress();
        log_warning(*warning);
    }
}

void Trainer::tell(NumberTrouble trouble) {
    if (parts_.world->rank() != 0) return;
    add_rows(trouble.details, parts_.loader->rows_of(step_));
    records_->event(trouble.event, trouble.details);
    if (trouble.warning.empty()) return;
    records_->clear_progress();
    log_warning(trouble.warning);
}

void Trainer::tell_target() {
    const std::optional<ReachedTarget>& target = target_.reached();
    if (!target || parts_.world->rank() != 0) return;
    log_info(concat("reached ", target->key, " ", target->value, " at step ", step_, " (schedule.stop_at.", target->key, " = ",
                    target->target, "): the run ends here, ", total_steps() - step_, " steps before its last"));
    records_->event("target_reached",
                    {{"step", step_}, {"key", target->key}, {"target", target->target}, {"value", target->value}});
}

void Trainer::tell_forecast() {
    if (!spending_ || finished()) return;
    const BatchSizes& sizes = parts_.loader->batch_sizes();
    const std::int64_t sequences_left = sizes.samples_before(total_steps() + 1) - sizes.samples_before(step_ + 1);
    const auto forecast = spending_->forecast({step_, total_steps(), sequences_left}, seconds_now());
    if (!forecast) return;
    records_->clear_progress();
    log_info(forecast_text(*forecast, spending_->limits(), total_steps()));
    nlohmann::ordered_json details{{"step", step_}};
    details.update(to_json(*forecast, spending_->limits()));
    records_->event("forecast", std::move(details));
}

bool Trainer::evaluate_held_out() {
    if (!parts_.held_out || step_evaluated_ == step_) return true;
    clock_.enter(Phase::communication);
    parts_.step->settle();
    clock_.enter(Phase::evaluation);
    stop_in_evaluation_.begin();
    const auto leave_early = [&] {
        clock_.enter(Phase::evaluation);
        return stop_in_evaluation_.leave();
    };
    std::optional<EvaluationRecord> record;
    try {
        record = evaluate(*parts_.model, *parts_.held_out, *parts_.world, step_, leave_early);
    } catch (const DistributedError&) { throw; } catch (const Error&) {  // of reading, on all ranks
        save_and_rethrow(std::current_exception());
    }
    if (!record) return false;
    if (parts_.probe) {
        record->probe = parts_.probe->judge(*parts_.model, parts_.parameters->device(), *parts_.world, leave_early);
        if (!record->probe) return false;
    }
    step_evaluated_ = step_;
    held_out_loss_ = record->mlm_loss;
    target_.add_evaluation(held_out_loss_);
    records_->add(*record);
    tell_forecast();
    return true;
}

Snapshot Trainer::with_progress(Snapshot snapshot) const {
    TrainingState& state = snapshot.state;
    state.step = step_;
    TrainingProgress progress;
    progress.step = step_;
    progress.samples = parts_.loader->batch_sizes().samples_before(step_ + 1);
    progress.global_batch_sequences = parts_.plan.global_batch();
    progress.world_size = parts_.world->size();
    progress.data_fingerprint = parts_.loader->fingerprint();
    if (parts_.plan.data.mixture.front().shares.size() > 1) progress.mixture = parts_.plan.data.mixture;
    progress.resume = parts_.resume.text();
    progress.step_evaluated = step_evaluated_;
    if (step_evaluated_ == step_ && std::isfinite(held_out_loss_)) progress.held_out_mlm_loss = held_out_loss_;
    progress.mlm_loss = target_.state();
    progress.updates_before = updates_before_;
    progress.skipped_updates = numbers_.counts().skipped;
    progress.skipped_updates_in_a_row = numbers_.counts().skipped_in_a_row;
    if (settings().training.cross_check_every_steps > 0) progress.agreed_step = snapshot.agreed_step = cross_check_.agreed_step();
    progress.casing = parts_.plan.data.casing;
    progress.kernels = kernels_of(parts_);
    if (parts_.plan.has_choice_of_pass()) progress.device_micro_batch = parts_.plan.batch.device_micro_batch;
    progress.cpu_products = kept_matmul(parts_.plan.compute);
    progress.gpu_kernels = parts_.kernels.kept;
    if (const Fp8Scales* const fp8 = parts_.model->fp8_scales()) progress.fp8_magnitudes = fp8->state();
    state.settings = write_config(parts_.plan.settings);
    if (complete_) {
        complete_->add_evaluation_to(progress);
        state.settings = complete_->settings;
    }
    state.progress = progress.to_json();
    state.vocabulary = vocabulary_;
    return snapshot;
}

void Trainer::save(bool training_goes_on) {
    const bool has_evaluation = saved_evaluation_ == step_evaluated_;
    if (step_ == 0 || (training_goes_on && last_save_step_ == step_ && has_evaluation)) return;
    clock_.enter(Phase::saving);
    const ModelConfig& model = settings().model;
    const ParameterLayout& layout = parts_.parameters->layout();
    const std::int64_t rank = parts_.world->rank();
    const OptimizerState& optimizer = parts_.optimizer->state();
    if (training_goes_on) saver_.make_room();
    else saver_.finish();
    const bool is_saved = saver_.step_saved() == step_;
    if (is_saved && has_evaluation) return;
    const double began = seconds_now();
    last_save_step_ = step_;
    saved_evaluation_ = step_evaluated_;
    if (training_goes_on && snapshot_) saver_.start(with_progress(snapshot_->copy(model, layout, rank, optimizer)), began);
    else
        saver_.save_now(with_progress(see_state(model, layout, rank, optimizer)), !training_goes_on && !is_saved,
                        !training_goes_on && !finished());
}

void Trainer::restore() {
    const bool leads = parts_.world->rank() == 0;
    const ParameterLayout& layout = parts_.parameters->layout();
    const std::unique_ptr<ResumePoint> point = std::move(parts_.checkpoint);
    std::string changed;  // the sources' shares
    if (point) {
        together(*parts_.world, [&] { refuse_changed_settings(*point, parts_.plan, *parts_.loader); });
        changed = changed_shares(*point, parts_.plan.data);
        if (leads) tell_other_kernels(*point, kernels_of(parts_));
        restore_optimizer(*parts_.world, point->reader.get(), layout, *parts_.optimizer);
        if (Fp8Scales* const fp8 = parts_.model->fp8_scales())
            together(*parts_.world, [&] { fp8->restore(point->progress.fp8_magnitudes); });
        together(*parts_.world, [&] { parts_.folder->require(); });  // before anything in it is changed
        set_later_aside(*parts_.world, CheckpointStore(parts_.folder->paths().checkpoints()), *point, parts_.resume);
        if (parts_.resume.kind == ResumeRequest::Kind::step) saver_.abandon_mirrored_after(point->step);
        saver_.mirror(point->step);
        step_ = last_save_step_ = point->step;
        saver_.goes_on_from(step_);
        step_evaluated_ = saved_evaluation_ = point->progress.step_evaluated;
        held_out_loss_ = point->progress.held_out_mlm_loss.value_or(std::numeric_limits<double>::quiet_NaN());
        target_.restore(point->progress.mlm_loss);
        cross_check_.begin_at(point->progress.agreed_step.value_or(step_));
        if (step_evaluated_ == step_) target_.add_evaluation(held_out_loss_);
        if (leads) tell_changed_settings(*point, parts_.plan, !finished());
        updates_before_ = point->progress.updates_before;
        numbers_.restore({point->progress.skipped_updates, point->progress.skipped_updates_in_a_row});
        if (leads) log_info(concat("going on from step ", step_, " (", point->folder.string(), ")"));
        if (leads && !changed.empty()) log_info(concat("weights of sources ", changed, ", from step ", step_ + 1, " on"));
    } else {
        updates_before_ = fill_initial_state(parts_.plan, *parts_.world, layout, *parts_.optimizer);
        if (leads) log_info("fresh start: no checkpoint to go on from");
    }
    together(*parts_.world, [&] {
        parts_.folder->require();
        const std::string digest = settings_digest(write_config(settings())), computer = computed_by(parts_.parameters->device());
        nlohmann::ordered_json details{
            {"step", step_}, {"ranks", parts_.world->size()}, {"settings", digest}, {"computed_by", computer}};
        if (const std::string sums = sums_of(parts_.plan, parts_.world->route()); !sums.empty()) details["sums"] = sums;
        add_sources(details, parts_.plan.data, *parts_.loader);
        if (parts_.held_out) details["held_out"] = parts_.held_out->fingerprint();
        // A complete run trains nothing: its settings stay those that it was trained with. --resume STEP may cut it back.
        const bool trains = !finished() || parts_.resume.kind == ResumeRequest::Kind::step;
        if (!trains && point) complete_ = CompleteRun{point->settings, point->progress};
        const bool evaluates = parts_.held_out && step_evaluated_ != step_;
        if (trains || evaluates) records_->event(point ? "resume" : "start", std::move(details));
        if (!changed.empty())
            records_->event("weights_changed", {{"step", step_}, {"shares", parts_.plan.data.shares}, {"what", changed}});
        if (!parts_.kernels.rows.is_null()) records_->event("gpu_kernels", {{"step", step_}, {"proof", parts_.kernels.rows}});
        records_->cut_to_step(step_, step_evaluated_);
        if (!leads) return;
        if (const auto& file = parts_.plan.data.vocabulary; !file.empty())
            vocabulary_ = std::make_shared<const TokenizerFile>(tokenizer_file(file));
        const RunPaths& paths = parts_.folder->paths();
        if (trains || !std::filesystem::exists(paths.settings()))
            write_atomically(paths.settings(), (trains ? write_config(settings()).dump(2) : point->settings.dump(2)) + "\n");
        if (trains || !std::filesystem::exists(paths.plan())) write_atomically(paths.plan(), to_json(parts_.plan).dump(2) + "\n");
        saver_.keep_lineage(std::make_shared<RunLineage>(parts_.plan,
                                                         session_lineage(step_, parts_.world->size(), digest, computer),
                                                         point ? std::optional(point->folder) : std::nullopt));
    });
    parts_.step->publish_weights();
    refuse_different_weights(*parts_.world, *parts_.parameters);
    parts_.loader->seek(step_ + 1);
    if (parts_.plan.checkpoint.snapshots) snapshot_.emplace(layout, parts_.parameters->device());
}

}  // namespace bertpretrain
