#include "preflight/dry_run.h"

#include <unistd.h>

#include "checkpoint/checkpoint_health.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/median.h"
#include "core/strings.h"
#include "telemetry/metrics_file.h"
#include "train/make_trainer.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

RequestedExperiment shortened(RequestedExperiment requested, const DryRunLength& length) {
    ExperimentConfig& experiment = requested.settings;
    const bool burns_in = length.burn_in_seconds > 0;
    constexpr std::int64_t without_end = 1'000'000'000;
    const std::int64_t steps = burns_in ? without_end : length.steps;
    if (burns_in) experiment.training.cross_check_every_steps = 1;
    experiment.schedule.total_steps = steps;
    experiment.batch.warmup_steps = experiment.batch.warmup_from = experiment.batch.warmup_increment = 0;  // whole batches
    if (experiment.evaluation.every_steps > 0) experiment.evaluation.every_steps = steps;
    experiment.checkpoint.save_every_steps = steps;
    experiment.checkpoint.keep_last = 1;
    experiment.checkpoint.keep_every_steps = 0;
    experiment.checkpoint.on_save_error = OnSaveError::stop;
    experiment.checkpoint.after_save.clear();
    experiment.checkpoint.mirror.reset();
    experiment.telemetry.command.clear();
    experiment.parallel.straggler_report_steps = burns_in ? 0 : steps - 1;
    return requested;
}

/// The dry run's folder, used by no other process; removed when the dry run ends, also by an exception.
class ScratchFolder {
public:
    ScratchFolder(fs::path path, bool owned) : path_(std::move(path)), owned_(owned) {}
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code failure;
        if (owned_) fs::remove_all(path_, failure);
    }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
    bool owned_;
};

void add_metrics(DryRun& run, const Metrics& metrics) {
    std::vector<double> seconds, rates, waits;
    for (std::size_t i = metrics.steps.size() > 1 ? 1 : 0; i < metrics.steps.size(); ++i) {
        const StepRecord& step = metrics.steps[i];
        seconds.push_back(step.step_seconds);
        rates.push_back(step.sequences_per_second);
        waits.push_back(step.data_wait_seconds / step.step_seconds);
    }
    run.steps = static_cast<std::int64_t>(metrics.steps.size());
    run.step_seconds = median(seconds);
    run.sequences_per_second = median(rates);
    run.data_wait_share = median(waits);
    if (!metrics.evaluations.empty()) run.held_out_mlm_loss = metrics.evaluations.back().mlm_loss;
}

void read_back(DryRun& run, const fs::path& folder) {
    const auto newest = CheckpointStore(folder / "checkpoints").newest_complete();
    if (!newest) throw CheckpointError(concat(folder.string(), ": the dry run left no complete checkpoint"));
    const double begin = seconds_now();
    const CheckpointHealth health = examine_checkpoint(*newest);
    if (!health.damage.empty()) throw CheckpointError(concat("the checkpoint that was just written is damaged: ", health.damage));
    run.checkpoint_bytes = health.bytes;
    run.read_gbps = static_cast<double>(health.bytes) / (seconds_now() - begin) * 1e-9;
}

}  // namespace

DryRun dry_run(const RequestedExperiment& experiment, const fs::path& beside, const DryRunLength& length, const Launch& launch,
               std::unique_ptr<World> world, at::Device device, StopRequest& requests) {
    check(length.steps >= 2, "a dry run of ", length.steps,
          " steps: expected at least 2, because the first is not representative");
    const fs::path whole = fs::absolute(beside / "").parent_path();
    const bool leads = world->rank() == 0;
    const ScratchFolder scratch(world->text_of_first(concat(whole.string(), ".preflight-", ::getpid())), leads);
    const ResumeRequest fresh{ResumeRequest::Kind::never};
    DryRun run;
    {
        PhaseClock clock;
        const RequestedExperiment few = shortened(experiment, length);
        TrainerParts parts = make_trainer_parts(few, scratch.path(), fresh, launch, clock, std::move(world), device);
        if (length.burn_in_seconds > 0) parts.limits.seconds = length.burn_in_seconds;
        Trainer trainer(std::move(parts), requests);
        run.stopped_by = trainer.run();
    }
    run.burn_in_seconds = length.burn_in_seconds;
    if (!leads || run.stopped_by != 0) return run;
    add_metrics(run, read_metrics(RunPaths(scratch.path()).metrics()));
    read_back(run, scratch.path());
    return run;
}

std::string describe(const DryRun& run, bool evaluates) {
    return concat(
        run.steps, " steps of ", fixed(run.step_seconds, 3), " s, ", fixed(run.sequences_per_second, 1), " sequences/s, ",
        fixed(100 * run.data_wait_share, 1), " % of the time waiting for data; ",
        run.burn_in_seconds > 0 ? concat("burn-in of ", duration_text(run.burn_in_seconds), ": all cross checks agreed; ") : "",
        evaluates && run.burn_in_seconds == 0 ? concat("held-out MLM loss ", fixed(run.held_out_mlm_loss, 4), "; ") : "",
        "checkpoint of ", bytes_text(run.checkpoint_bytes), " written and read back at ", fixed(run.read_gbps, 2), " GB/s");
}

}  // namespace bertpretrain
