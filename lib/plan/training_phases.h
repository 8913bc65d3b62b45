#pragma once
// The phases of an experiment: several runs in one file, each of which begins with the weights and moments of the one before.

#include <filesystem>
#include <string>
#include <vector>

#include "config/write.h"
#include "plan/experiment_config.h"

namespace bertpretrain {

/// The most phases of a file.
inline constexpr std::size_t most_phases = 99;

/// One entry of `phases`, as the experiment of a run of its own. A file without phases has one, without a name.
struct TrainingPhase {
    std::string name;
    std::filesystem::path folder;  ///< RUN/phases/01_NAME; RUN without a name
    RequestedExperiment experiment;
};

/// Reads an experiment file with command-line overrides. `phases` is a list of objects, each a name and a JSON merge patch over
/// the rest of the file. Each phase after the first gets initialization.init_from, init_moments and init_changes, and unless it
/// sets training.seed, one more than the seed of the phase before, so that its samples have another order. Each phase's
/// checkpoint.mirror gets its folder's name as another part. An override applies to all phases; "phases.NAME.section.key=value"
/// applies to one. "phases=NAME,NAME" keeps these phases alone, "phases=null" none: then the rest of the file is the experiment.
/// @param run the run's folder
/// @throws ConfigError that lists everything that is wrong: an unknown setting as phases[1].section.key; a model whose tensors
/// have other shapes than in the phase before; an override of a setting of which phases have values of their own
std::vector<TrainingPhase> request_phases(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                                          const std::filesystem::path& run);

/// Returns "phase extension", or "" without phases: the beginning of a line about it.
std::string title_of(const TrainingPhase& phase);

/// Returns the settings of `now` that differ from those of a run's checkpoint although they may not. The phase before is the same
/// one under another path: the run's folder may have been moved.
std::vector<Difference> fixed_differences(const ExperimentConfig& saved, const ExperimentConfig& now);

}  // namespace bertpretrain
