// bertpretrain average MODEL... --output FOLDER [--steps N,N,... | A:B]

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "step_range.h"

#include "checkpoint/average_checkpoints.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "core/output/displayable.h"
#include "core/signals.h"
#include "core/strings.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

struct AverageArguments {
    std::vector<std::string> models, steps;
    std::string output;
};

/// Adds the checkpoint of a step, or all of a range. @throws CheckpointError where there is none
void add_checkpoints(const CheckpointStore& store, const std::string& steps, std::vector<std::filesystem::path>& to) {
    const auto [first, last] = step_range(steps);
    if (first == last) return to.push_back(store.complete_at(first));
    std::vector<std::string> others;
    const std::size_t before = to.size();
    for (const std::filesystem::path& folder : store.all_complete()) {
        const std::int64_t step = *step_of_folder_name(folder.filename().string());
        if (first <= step && step <= last) to.push_back(folder);
        else others.push_back(std::to_string(step));
    }
    if (to.size() > before) return;
    throw CheckpointError(
        concat(store.folder().string(), ": no complete checkpoint of the steps ", steps, "; complete ones: ", join(others)));
}

std::vector<std::filesystem::path> checkpoints_of(const AverageArguments& arguments) {
    std::vector<std::filesystem::path> checkpoints;
    if (arguments.steps.empty()) {
        for (const std::string& model : arguments.models) checkpoints.push_back(resolve_checkpoint(model));
        return checkpoints;
    }
    if (arguments.models.size() != 1)
        throw ConfigError(concat("--steps names steps of one run, and ", arguments.models.size(),
                                 " folders were given\n  do: give one run's folder, or name the checkpoints' folders"));
    require_no_phases(arguments.models.front());
    const CheckpointStore store(resolve_checkpoint(arguments.models.front()).parent_path());
    for (const std::string& text : arguments.steps) add_checkpoints(store, text, checkpoints);
    return checkpoints;
}

}  // namespace

void add_average_command(CLI::App& app) {
    const auto arguments = std::make_shared<AverageArguments>();
    CLI::App* command = app.add_subcommand("average", "Writes the mean of several checkpoints' weights as a checkpoint");
    command
        ->add_option("model", arguments->models,
                     "The checkpoints' folders, or runs' folders (the newest checkpoint of each); with --steps one run's folder")
        ->required();
    command
        ->add_option(
            "--steps", arguments->steps,
            "The steps of the run to average, such as 900,950,1000, or all from FIRST to LAST that are saved, as 900:1000")
        ->delimiter(',');
    command->add_option("--output", arguments->output, "The new folder, in which the checkpoint step_N is written")->required();
    command->callback([arguments] {
        note_when_interrupted(concat("interrupted: ", displayable(arguments->output), " is not complete\n  do: remove ",
                                     displayable(arguments->output), ", then run the same command again"));
        std::cout << displayable(average_checkpoints(checkpoints_of(*arguments), arguments->output).string()) << std::endl;
    });
}

}  // namespace bertpretrain
