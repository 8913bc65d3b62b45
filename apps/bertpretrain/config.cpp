// bertpretrain config check|resolve|explain|compare|pipeline

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "rank_options.h"

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "config/read.h"
#include "config/shell_assignments.h"
#include "config/write.h"
#include "core/concat.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "inference/embed_input.h"
#include "plan/pipeline_config.h"
#include "plan/resolve.h"
#include "plan/training_phases.h"
#include "storage/remote_address.h"
#include "telemetry/run_paths.h"
#include "text/reader/input_files.h"

namespace bertpretrain {
namespace {

/// Returns the phases of an experiment file, or the settings of a run's folder as one.
std::vector<TrainingPhase> phases_of(const std::filesystem::path& file_or_run, const std::vector<std::string>& overrides) {
    const bool is_run = std::filesystem::is_directory(file_or_run);
    if (is_run) require_no_phases(file_or_run);
    return request_phases(is_run ? RunPaths(file_or_run).settings() : file_or_run, overrides, run_folder("", file_or_run));
}

void print(const nlohmann::ordered_json& json) {
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

/// Prints all settings of the first phase, and of each later one what it changes; as JSON, all settings of every phase by its
/// name.
void check_and_print(const std::string& file_or_run, const std::vector<std::string>& overrides, bool as_json) {
    const std::vector<TrainingPhase> phases = phases_of(file_or_run, overrides);
    if (as_json) {
        nlohmann::ordered_json json;
        for (const TrainingPhase& phase : phases)
            (phase.name.empty() ? json : json[phase.name]) = write_config(phase.experiment.settings);
        return print(json);
    }
    const auto title = [](const TrainingPhase& phase) { return phase.name.empty() ? "" : title_of(phase) + "\n"; };
    std::cout << title(phases.front()) << settings_table(phases.front().experiment.settings, Show::all);
    for (std::size_t i = 1; i < phases.size(); ++i) {
        Table table({"setting", title_of(phases[i - 1]), title_of(phases[i])});
        for (const Difference& difference : compare_configs(phases[i - 1].experiment.settings, phases[i].experiment.settings))
            table.add({difference.path, difference.value_a, difference.value_b});
        std::cout << "\n" << title(phases[i]) << table.text();
    }
    std::cout << std::flush;
}

/// Returns the value of a JSON text; a text that is not JSON, such as the one for a setting that only the other file has, as it
/// is.
nlohmann::ordered_json value_of(const std::string& text) {
    nlohmann::ordered_json value = nlohmann::ordered_json::parse(text, nullptr, false);
    return value.is_discarded() ? nlohmann::ordered_json(text) : value;
}

void compare_and_print(const std::vector<std::string>& files, bool as_json) {
    const std::vector<TrainingPhase> a = phases_of(files[0], {}), b = phases_of(files[1], {});
    if (a.size() != b.size())
        throw ConfigError(concat(files[0], " has ", a.size(), " phase(s) and ", files[1], " has ", b.size(),
                                 "; expected as many\n  do: name the folder of a phase, RUN/phases/NN_NAME"));
    Table table({"setting", files[0], files[1], "on resume"});
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < a.size(); ++i)
        for (const Difference& difference : compare_configs(a[i].experiment.settings, b[i].experiment.settings)) {
            const std::string path = (a[i].name.empty() ? "" : concat("phases[", i, "].")) + difference.path;
            table.add({path, difference.value_a, difference.value_b, difference.may_change ? "may change" : "fixed"});
            json.push_back({{"setting", path},
                            {"a", value_of(difference.value_a)},
                            {"b", value_of(difference.value_b)},
                            {"may_change_on_resume", difference.may_change}});
        }
    if (as_json) return print(json);
    std::cout << table.text() << std::flush;
}

constexpr const char* phases_meaning =
    "A list of phases that are trained one after the other. Each has a \"name\", and the settings that it changes in the rest of "
    "the file, as a JSON merge patch. A phase begins with the weights and moments of the one before it; its schedule and its "
    "samples begin again. --set phases.NAME.section.key=value changes one phase.";

std::string settings_page_with_phases() {
    return concat(settings_page<ExperimentConfig>(), "\n## phases\n\n", phases_meaning, "\n");
}

struct ResolveArguments {
    std::string config, output;
    std::vector<std::string> overrides;
    std::int64_t world_size = 0;
    bool json = false;
};

/// Returns the settings and the progress of a run's newest checkpoint; nothing if there is none.
std::optional<CheckpointFacts> newest_checkpoint(const std::filesystem::path& run) {
    const auto folder = CheckpointStore(RunPaths(run).checkpoints()).newest_complete();
    if (!folder) return std::nullopt;
    const CheckpointReader reader(*folder, CheckpointReader::Verify::sizes);
    return CheckpointFacts{read_config<ExperimentConfig>(reader.settings(), (*folder / settings_file).string()),
                           TrainingProgress::read(reader.progress(), *folder / progress_file)};
}

void resolve_and_print(const ResolveArguments& arguments) {
    const std::filesystem::path run = run_folder(arguments.output, arguments.config);
    Launch launch = read_launch();
    if (arguments.world_size > 0) launch.world_size = arguments.world_size;
    nlohmann::ordered_json all;
    for (const TrainingPhase& phase : request_phases(arguments.config, arguments.overrides, run)) {
        const ExperimentConfig& settings = phase.experiment.settings;
        const std::optional<CheckpointFacts> checkpoint = newest_checkpoint(phase.folder);
        const RunPlan plan =
            resolve(phase.experiment, launch, look_at_machine(), look_at_data(settings.data, settings.evaluation.every_steps > 0),
                    checkpoint ? &*checkpoint : nullptr);
        if (phase.name.empty()) all = to_json(plan);
        else all[phase.name] = to_json(plan);
        if (!arguments.json)
            std::cout << (phase.name.empty() ? "" : title_of(phase) + "\n") << resolved_table(plan) << std::flush;
        for (const std::string& warning : plan.warnings) log_warning(warning);
    }
    if (arguments.json) print(all);
}

void add_resolve_command(CLI::App& config) {
    const auto arguments = std::make_shared<ResolveArguments>();
    CLI::App* command = config.add_subcommand(
        "resolve",
        "Prints each setting as `train` would use it here, with its origin: file, --set, init_from, checkpoint, default or auto");
    command->add_option("config", arguments->config, "The experiment file (JSON)")->required();
    command->add_option("--output", arguments->output,
                        "The run's folder, whose newest checkpoint is used. Default: runs/NAME for an experiment NAME.json");
    add_set_option(*command, arguments->overrides);
    command->add_option("--world-size", arguments->world_size, "Number of ranks. Default: that of the launcher's variables")
        ->check(CLI::Range(1, 1 << 20));
    command->add_flag("--json", arguments->json, "Print the plan as JSON");
    command->callback([arguments] { resolve_and_print(*arguments); });
}

/// A table or JSONL needs the field that `embed` reads by default, because a pipeline has no --text-field.
void check_embedding_text(const std::string& text, const std::string& file) {
    if (is_remote_address(text)) return;
    const std::vector<std::filesystem::path> files = input_files({text});
    try {
        for (const std::filesystem::path& one : files) check_embed_input(one);
    } catch (const DataError& error) {
        throw ConfigError(concat(file, ": embedding.text: ", error.what(),
                                 "\n  do: for a pipeline, write one text per line, or name the field \"text\", ",
                                 "because it has no --text-field"));
    }
}

void add_pipeline_command(CLI::App& config) {
    struct Arguments {
        std::string file;
        bool shell = false, settings_only = false;
    };
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command = config.add_subcommand(
        "pipeline", "Checks the settings of scripts/pipeline.sh and prints them; without a file, explains every one of them");
    command->add_option("file", arguments->file, "The pipeline's file (JSON)");
    command->add_flag("--shell", arguments->shell, "Print assignments for bash");
    command->add_flag("--settings-only", arguments->settings_only,
                      "Do not look for the files that the settings name, except the experiment");
    command->callback([arguments] {
        if (arguments->file.empty()) {
            std::cout << explain_config<PipelineConfig>("", output_width()) << std::flush;
            return;
        }
        const PipelineConfig pipeline = load_pipeline(arguments->file);
        if (!arguments->settings_only) {
            check_pipeline_paths(pipeline, arguments->file);
            if (pipeline.embedding.text) check_embedding_text(*pipeline.embedding.text, arguments->file);
        }
        std::cout << (arguments->shell ? shell_assignments(pipeline) : settings_table(pipeline, Show::all)) << std::flush;
    });
}

}  // namespace

void add_config_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("config", "Checks, explains and compares the files of experiments and pipelines");
    command->require_subcommand(1);

    const auto files = std::make_shared<std::vector<std::string>>();
    CLI::App* check = command->add_subcommand(
        "check", "Reads a file as `train` does, and prints all settings, and what each later phase changes");
    const auto checked = std::make_shared<std::string>();
    const auto overrides = std::make_shared<std::vector<std::string>>();
    check->add_option("config", *checked, "The experiment file (JSON), or a run's folder")->required();
    add_set_option(*check, *overrides);
    const auto json = std::make_shared<bool>(false);
    check->add_flag("--json", *json, "Print the settings as JSON; those of phases by the phases' names");
    check->callback([checked, overrides, json] { check_and_print(*checked, *overrides, *json); });

    add_resolve_command(*command);
    add_pipeline_command(*command);

    const auto which = std::make_shared<std::string>();
    CLI::App* explain = command->add_subcommand("explain", "Prints every setting: default, allowed values, meaning");
    CLI::Option* setting = explain->add_option("setting", *which, "Print only this setting or section, such as optimizer");
    const auto markdown = std::make_shared<bool>(false);
    explain->add_flag("--markdown", *markdown, "Print a page in Markdown, as configs/SETTINGS.md is")->excludes(setting);
    explain->callback([which, markdown] {
        if (*which == "phases") {
            std::cout << wrapped(concat("phases: ", phases_meaning), output_width(), 0, 4) << std::flush;
            return;
        }
        std::cout << (*markdown ? settings_page_with_phases() : explain_config<ExperimentConfig>(*which, output_width()))
                  << std::flush;
    });

    CLI::App* compare = command->add_subcommand("compare", "Prints the settings that differ between two files or runs");
    compare->add_option("configs", *files, "Two experiment files or run folders")->required()->expected(2);
    compare->add_flag("--json", *json, "Print the differences as JSON");
    compare->callback([files, json] { compare_and_print(*files, *json); });
}

}  // namespace bertpretrain
