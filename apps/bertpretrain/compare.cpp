// bertpretrain compare RUN_A RUN_B

#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"

#include "config/write.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/table.h"
#include "plan/experiment_config.h"
#include "reports/run_comparison.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

struct CompareArguments {
    std::string run_a, run_b, svg;
    double bound = 0.001;
    bool json = false;
};

/// Returns the settings that differ between the runs, except those that only describe the experiment.
std::vector<Difference> settings_that_differ(const CompareArguments& arguments) {
    std::vector<Difference> differences = compare_configs(load_experiment(RunPaths(arguments.run_a).settings(), {}),
                                                          load_experiment(RunPaths(arguments.run_b).settings(), {}));
    std::erase_if(differences, [](const Difference& one) { return one.path == "about"; });
    return differences;
}

/// JSON has no infinity: null.
nlohmann::ordered_json json_of(const LossPair& pair) {
    const double difference = pair.relative_difference();
    nlohmann::ordered_json out{{"step", pair.step}, {"a", pair.a}, {"b", pair.b}, {"relative_difference", nullptr}};
    if (std::isfinite(difference)) out["relative_difference"] = difference;
    return out;
}

std::string json_text(const RunComparison& comparison, const std::vector<Difference>& settings, double bound) {
    nlohmann::ordered_json out{{"alike", comparison.alike(bound)}, {"bound", bound}};
    out["worst_held_out"] = json_of(comparison.worst_held_out());
    out["held_out"] = nlohmann::ordered_json::array();
    for (const LossPair& pair : comparison.held_out) out["held_out"].push_back(json_of(pair));
    out["training"] = {{"steps", comparison.training.size()}, {"equal_steps", comparison.equal_training_steps()}};
    if (const auto worst = comparison.worst_training()) out["training"]["worst"] = json_of(*worst);
    out["settings"] = nlohmann::ordered_json::array();
    for (const Difference& one : settings)
        out["settings"].push_back({{"setting", one.path}, {"a", one.value_a}, {"b", one.value_b}});
    return out.dump(2) + "\n";
}

std::string text(const RunComparison& comparison, const std::vector<Difference>& settings, double bound) {
    std::string out;
    if (!settings.empty()) {
        Table table({"setting", comparison.name_a, comparison.name_b});
        for (const Difference& one : settings) table.add({one.path, one.value_a, one.value_b});
        out += table.text() + "\n";
    }
    const std::vector<std::vector<std::string>> rows = comparison_rows(comparison);
    Table table(rows.front());
    for (std::size_t r = 1; r < rows.size(); ++r) table.add(rows[r]);
    out += table.text() + "\n";
    if (const auto worst = comparison.worst_training())
        out +=
            concat("training loss: equal to the bit in ", comparison.equal_training_steps(), " of ", comparison.training.size(),
                   " steps; largest difference ", percent_text(worst->relative_difference()), " at step ", worst->step, "\n");
    const LossPair& worst = comparison.worst_held_out();
    return out + concat("held-out loss: largest difference ", percent_text(worst.relative_difference()), " at step ", worst.step,
                        ", ", comparison.alike(bound) ? "within" : "above", " the bound of ", 100 * bound,
                        " %: ", comparison.alike(bound) ? "alike" : "different", "\n");
}

int compare(const CompareArguments& arguments) {
    const std::vector<RunHistory> runs = read_runs({arguments.run_a, arguments.run_b});
    const RunComparison comparison = compare_runs(runs[0], runs[1]);
    const std::vector<Difference> settings = settings_that_differ(arguments);
    std::cout << (arguments.json ? json_text(comparison, settings, arguments.bound) : text(comparison, settings, arguments.bound))
              << std::flush;
    if (!arguments.svg.empty()) {
        write_atomically(arguments.svg, svg_text(comparison_chart(comparison, arguments.bound)));
        log_info(concat("chart: ", arguments.svg));
    }
    return static_cast<int>(comparison.alike(arguments.bound) ? ExitCode::done : ExitCode::numbers);
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<CompareArguments>();
    CLI::App* command = app.add_subcommand(
        "compare", "Decides whether two runs that should be alike have the same held-out losses; exit code 6 if not");
    command->add_option("run_a", arguments->run_a, "The run's folder that the other one is compared with")->required();
    command->add_option("run_b", arguments->run_b, "The other run's folder")->required();
    command
        ->add_option("--bound", arguments->bound,
                     "The largest relative difference of the held-out MLM loss, at any step, of runs that are alike")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command->add_flag("--json", arguments->json, "Print everything as one JSON object");
    command->add_option("--svg", arguments->svg, "Write a chart of the differences into this SVG file");
    command->callback([arguments, &exit_code] { exit_code = compare(*arguments); });
}

}  // namespace bertpretrain
