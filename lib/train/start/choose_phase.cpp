#include "train/start/choose_phase.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_mirror.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "parallel/together.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

bool has_checkpoint(const fs::path& folder) { return !CheckpointStore(RunPaths(folder).checkpoints()).all().empty(); }

void refuse_other_phases(const std::vector<TrainingPhase>& phases, const fs::path& run) {
    const bool has_phases = !phases.front().name.empty();
    if (has_phases && has_checkpoint(run))
        throw ConfigError(concat(run.string(), ": holds the checkpoints of a run without phases\n  do: choose another --output"));
    for (const fs::path& begun : phases_of_run(run)) {
        if (std::ranges::find(phases, begun, &TrainingPhase::folder) != phases.end()) continue;
        throw ConfigError(concat(begun.string(),
                                 ": this phase was begun, and the experiment has no phase of this number and name",
                                 "\n  do: give the phase its place and name back, or train into another folder with --output"));
    }
}

std::vector<double> weights_of(const ExperimentConfig& settings) {
    std::vector<double> weights;
    for (const WeightedPath& source : settings.data.training_shards.paths) weights.push_back(source.weight);
    return weights;
}

/// What decides a phase's results, but may differ between the starts of a run that is not finished.
bool decides(const std::string& path, const ExperimentConfig& saved, const ExperimentConfig& now) {
    return path == "schedule.total_steps" || path.starts_with("schedule.stop_at.") || path == "optimizer.learning_rate" ||
           (path == "data.training_shards" && weights_of(saved) != weights_of(now));
}

/// The settings that a plan fills in are compared only where the file names them.
bool is_left_open(const std::string& path, const RequestedExperiment& now) {
    const ExperimentConfig& settings = now.settings;
    return (path == "batch.global_batch_size" && settings.batch.global_batch_size == 0) ||
           (path == "model.vocab_size" && shape_of(settings.model).vocab_size == 0) ||
           (path == "optimizer.name" && !now.origins.contains(path));
}

/// The weights of later phases come from the settings that a phase had.
void refuse_changed_phase(const TrainingPhase& phase) {
    const RunPaths paths(phase.folder);
    if (!fs::exists(paths.settings())) return;
    const ExperimentConfig saved = load_experiment(paths.settings(), {});
    const ExperimentConfig& now = phase.experiment.settings;
    std::vector<Difference> changed = fixed_differences(saved, now);
    for (Difference& difference : compare_configs(saved, now))
        if (difference.may_change && decides(difference.path, saved, now)) changed.push_back(std::move(difference));
    std::erase_if(changed, [&](const Difference& difference) { return is_left_open(difference.path, phase.experiment); });
    if (changed.empty()) return;
    std::string message = concat(phase.folder.string(), ": this phase is finished, and a later one has begun with its weights; ",
                                 "its settings may not change now:");
    for (const Difference& difference : changed)
        message +=
            concat("\n  ", difference.path, ": ", difference.value_a, " in its settings.json, ", difference.value_b, " now");
    throw ConfigError(message + "\n  do: set them back, or train into another folder with --output");
}

bool is_mirrored(const TrainingPhase& phase, bool is_needed) {
    const auto& url = phase.experiment.settings.checkpoint.mirror;
    if (!url) return false;
    CheckpointMirror mirror(parse_object_url(*url, "checkpoint.mirror"));
    try {
        mirror.open();
    } catch (const Error& error) {
        if (is_needed) throw;
        log_warning(concat(error.what(), "\n  this start looks only for local checkpoints of ", title_of(phase)));
        return false;
    }
    return !mirror.steps().empty();
}

std::size_t chosen_phase(const std::vector<TrainingPhase>& phases, const fs::path& run, const ResumeRequest& resume) {
    refuse_other_phases(phases, run);
    if (phases.front().name.empty()) return 0;
    if (resume.kind == ResumeRequest::Kind::step)
        throw ConfigError(concat("--resume ", resume.step,
                                 ": names no phase of this run\n  do: leave it out; to go back, remove ",
                                 "the folders of later phases, and the later checkpoints of the phase itself"));
    const bool is_local = std::ranges::any_of(phases, [](const TrainingPhase& phase) { return has_checkpoint(phase.folder); });
    if (is_local && resume.kind == ResumeRequest::Kind::never && !resume.again)
        throw ConfigError(concat(
            run.string(), ": holds checkpoints of an earlier run; go on with --resume auto, or choose another ", "--output"));
    std::size_t chosen = phases.size() - 1;
    while (chosen > 0 && !has_checkpoint(phases[chosen].folder) && !is_mirrored(phases[chosen], !is_local)) --chosen;
    for (std::size_t i = 0; i < chosen; ++i) refuse_changed_phase(phases[i]);
    return chosen;
}

}  // namespace

std::size_t choose_phase(ControlGroup& ranks, const std::vector<TrainingPhase>& phases, const fs::path& run,
                         const ResumeRequest& resume) {
    std::size_t chosen = 0;
    together(ranks, [&] {
        if (ranks.rank() == 0) chosen = chosen_phase(phases, run, resume);
    });
    return static_cast<std::size_t>(ranks.agree_on_largest(static_cast<std::int64_t>(chosen)));
}

}  // namespace bertpretrain
