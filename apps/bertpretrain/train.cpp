// bertpretrain train CONFIG

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"

#include "core/error.h"
#include "core/strings.h"
#include "parallel/local_ranks.h"
#include "telemetry/loss_picture.h"
#include "train/exit_record.h"
#include "train/make_trainer.h"

namespace bertpretrain {
namespace {

struct TrainArguments {
    std::string config;
    std::string output;
    std::string resume = "auto";
    std::int64_t local_ranks = 0;
    std::vector<std::string> overrides;
};

/// What the run leaves behind, on standard output.
void report(const std::filesystem::path& folder, const std::optional<double>& unigram) {
    const auto newest = CheckpointStore(folder / "checkpoints").newest_complete();
    std::cout << loss_table(read_metrics(folder / "metrics.jsonl"));
    if (unigram) std::cout << "unigram cross-entropy of the training shards: " << fixed(*unigram, 4) << "\n";
    if (newest) std::cout << "checkpoint: " << (*newest / "model.pt").string() << "\n";
    std::cout << "loss picture: " << (folder / "loss.svg").string() << "\n"
              << "run folder: " << folder.string() << std::endl;
}

int train_as(const Launch& launch, const ExperimentConfig& experiment, const std::filesystem::path& folder,
             const ResumeRequest& resume) {
    TrainerParts parts = make_trainer_parts(experiment, folder, resume, launch);
    const std::optional<double> unigram = parts.unigram_cross_entropy;
    Trainer trainer(std::move(parts));
    const int signal = trainer.run();
    if (signal != 0) return 128 + signal;
    if (launch.rank == 0) report(folder, unigram);
    return 0;
}

int train(const TrainArguments& arguments) {
    const ResumeRequest resume = ResumeRequest::parse(arguments.resume);
    const ExperimentConfig experiment = load_experiment(arguments.config, arguments.overrides);
    const std::filesystem::path folder = arguments.output.empty()
                                             ? std::filesystem::path("runs") / std::filesystem::path(arguments.config).stem()
                                             : std::filesystem::path(arguments.output);
    const Launch launch = read_launch();
    if (arguments.local_ranks > 0 && launch.launcher == "none") return run_local_ranks(arguments.local_ranks);
    if (arguments.local_ranks > 0 && launch.world_size != arguments.local_ranks)
        throw ConfigError(concat("--local-ranks ", arguments.local_ranks, ": ", launch.launcher,
                                 " has started this process as rank ", launch.rank, " of ", launch.world_size,
                                 "; leave one of the two out"));
    const RunPaths paths(folder);
    try {
        refuse_hopeless_restart(paths.exit_record(), launch);
        return train_as(launch, experiment, folder, resume);
    } catch (const Error& error) {
        record_exit(paths.exit_record(), launch, error);
        throw;
    }
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<TrainArguments>();
    CLI::App* command = app.add_subcommand("train", "Trains, or goes on with, the experiment of a file");
    command->add_option("config", arguments->config, "The experiment's JSON file")->required();
    command->add_option("--output", arguments->output, "The run's folder; runs/NAME-OF-CONFIG when not given");
    command->add_option("--resume", arguments->resume, "auto: the newest complete checkpoint, if any; never; or a step")
        ->capture_default_str();
    command->add_option("--local-ranks", arguments->local_ranks, "Train with so many processes on this host")
        ->check(CLI::Range(1, 4096));
    command->add_option("--set", arguments->overrides, "section.key=value, instead of what the file says; may be given often")
        ->allow_extra_args(false);
    command->callback([arguments, &exit_code] { exit_code = train(*arguments); });
}

}  // namespace bertpretrain
