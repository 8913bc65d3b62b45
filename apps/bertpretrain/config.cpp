// bertpretrain config check|explain|compare

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"

#include "config/write.h"
#include "core/table.h"
#include "train/experiment_config.h"

namespace bertpretrain {

void add_config_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("config", "Looks at experiment files");
    command->require_subcommand(1);

    const auto files = std::make_shared<std::vector<std::string>>();
    CLI::App* check = command->add_subcommand("check", "Reads a file as `train` would, and prints all settings");
    check->add_option("config", *files, "The experiment's JSON file")->required()->expected(1);
    check->callback([files] { std::cout << settings_table(load_experiment(files->front(), {})) << std::flush; });

    CLI::App* explain = command->add_subcommand("explain", "Prints every setting: default, range, meaning");
    explain->callback([] { std::cout << explain_config<ExperimentConfig>() << std::flush; });

    CLI::App* compare = command->add_subcommand("compare", "Prints what differs between two files");
    compare->add_option("configs", *files, "Two experiment files")->required()->expected(2);
    compare->callback([files] {
        Table table({"setting", (*files)[0], (*files)[1], "on resume"});
        for (const Difference& difference : compare_configs(load_experiment((*files)[0], {}), load_experiment((*files)[1], {})))
            table.add({difference.path, difference.value_a, difference.value_b, difference.may_change ? "may change" : "fixed"});
        std::cout << table.text() << std::flush;
    });
}

}  // namespace bertpretrain
