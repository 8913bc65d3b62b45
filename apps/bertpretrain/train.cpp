// bertpretrain train CONFIG

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"

#include "core/strings.h"
#include "telemetry/loss_picture.h"
#include "train/make_trainer.h"

namespace bertpretrain {
namespace {

struct TrainArguments {
    std::string config;
    std::string output;
    std::string resume = "auto";
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

int train(const TrainArguments& arguments) {
    const ResumeRequest resume = ResumeRequest::parse(arguments.resume);
    const ExperimentConfig experiment = load_experiment(arguments.config, arguments.overrides);
    const std::filesystem::path folder = arguments.output.empty()
                                             ? std::filesystem::path("runs") / std::filesystem::path(arguments.config).stem()
                                             : std::filesystem::path(arguments.output);
    TrainerParts parts = make_trainer_parts(experiment, folder);
    const std::optional<double> unigram = parts.unigram_cross_entropy;
    Trainer trainer(std::move(parts), resume);
    const int signal = trainer.run();
    if (signal != 0) return 128 + signal;
    report(folder, unigram);
    return 0;
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<TrainArguments>();
    CLI::App* command = app.add_subcommand("train", "Trains, or goes on with, the experiment of a file");
    command->add_option("config", arguments->config, "The experiment's JSON file")->required();
    command->add_option("--output", arguments->output, "The run's folder; runs/NAME-OF-CONFIG when not given");
    command->add_option("--resume", arguments->resume, "auto: the newest complete checkpoint, if any; never; or a step")
        ->capture_default_str();
    command->add_option("--set", arguments->overrides, "section.key=value, instead of what the file says; may be given often")
        ->allow_extra_args(false);
    command->callback([arguments, &exit_code] { exit_code = train(*arguments); });
}

}  // namespace bertpretrain
