// bertpretrain config check|explain|compare

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"

#include "config/write.h"
#include "core/table.h"
#include "telemetry/run_paths.h"
#include "train/experiment_config.h"

namespace bertpretrain {
namespace {

/// A file itself, or what a run wrote into its folder.
std::filesystem::path settings_of(const std::filesystem::path& file_or_run) {
    return std::filesystem::is_directory(file_or_run) ? RunPaths(file_or_run).settings() : file_or_run;
}

}  // namespace

void add_config_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("config", "Looks at experiment files");
    command->require_subcommand(1);

    const auto files = std::make_shared<std::vector<std::string>>();
    CLI::App* check = command->add_subcommand("check", "Reads a file as `train` would, and prints all settings");
    check->add_option("config", *files, "The experiment's JSON file, or a run's folder")->required()->expected(1);
    check->callback([files] { std::cout << settings_table(load_experiment(settings_of(files->front()), {})) << std::flush; });

    const auto which = std::make_shared<std::string>();
    CLI::App* explain = command->add_subcommand("explain", "Prints every setting: default, range, meaning");
    explain->add_option("setting", *which, "Only this setting or section, such as optimizer");
    explain->callback([which] { std::cout << explain_config<ExperimentConfig>(*which) << std::flush; });

    CLI::App* compare = command->add_subcommand("compare", "Prints what differs between two files or runs");
    compare->add_option("configs", *files, "Two experiment files, or folders of runs")->required()->expected(2);
    compare->callback([files] {
        const ExperimentConfig a = load_experiment(settings_of((*files)[0]), {}),
                               b = load_experiment(settings_of((*files)[1]), {});
        Table table({"setting", (*files)[0], (*files)[1], "on resume"});
        for (const Difference& difference : compare_configs(a, b))
            table.add({difference.path, difference.value_a, difference.value_b, difference.may_change ? "may change" : "fixed"});
        std::cout << table.text() << std::flush;
    });
}

}  // namespace bertpretrain
