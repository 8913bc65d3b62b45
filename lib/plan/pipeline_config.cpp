#include "plan/pipeline_config.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "core/error.h"
#include "core/files/local_path.h"
#include "plan/experiment_config.h"
#include "storage/object_url.h"
#include "storage/remote_address.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

constexpr auto old_names = std::to_array<ForeignName>({
    {"shards", "data.training_shards"},
    {"held_out", "evaluation.held_out_shards"},
    {"text", "embedding.text"},
    {"train_options", "training.set", "without \"--set\""},
});

/// Whether `text` is not JSON but shell assignments: its first line that is no comment of the shell has the form NAME=VALUE.
bool has_shell_assignments(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == line.npos || line[begin] == '#') continue;
        const std::size_t equals = line.find('=');
        return equals != line.npos && line.substr(begin, equals - begin).find_first_of("{}\":, ") == line.npos;
    }
    return false;
}

void check_data(const PipelineData& data, const std::string& file) {
    const int given = data.training_shards.has_value() + data.command.has_value() + data.text_folder.has_value();
    if (given != 1)
        throw ConfigError(concat(file, ": data: ", given, " of training_shards, command and text_folder are set; expected: one\n",
                                 "  do: name the shards, a command that makes them, or the folder of new texts"));
    if (!data.text_folder && !data.shard_options.empty())
        throw ConfigError(concat(file, ": data.shard_options have no effect without data.text_folder\n  do: leave them out"));
}

/// Refuses an option and its value in one text, which the program would take for an option's name.
void check_shard_options(const std::vector<std::string>& options, const std::string& file) {
    for (const std::string& option : options) {
        const std::size_t blank = option.find_first_of(" \t");
        if (option.starts_with("--") && blank < option.find('='))
            throw ConfigError(concat(file, ": data.shard_options: \"", option,
                                     "\" is several words, expected one per text\n  do: [\"", option.substr(0, blank),
                                     "\", \"VALUE\", ...]"));
    }
}

/// Checks that the experiment can be read with the pipeline's changes, and that its model has the formats.
void check_experiment(const PipelineConfig& pipeline, const std::string& file) {
    std::vector<std::string> overrides = pipeline.training.set;
    overrides.push_back("data.training_shards=\"shards\"");  // each generation has its own
    const ExperimentConfig experiment = load_experiment(pipeline.experiment, overrides);
    const auto refuse = [&](const std::string& format, const std::string& why) {
        const auto& formats = pipeline.exports.formats;
        if (std::find(formats.begin(), formats.end(), format) == formats.end()) return;
        throw ConfigError(concat(file, ": export.formats: \"", format, "\" is not available for ", pipeline.experiment, ", ", why,
                                 "\n  do: list other formats, such as [\"torchscript\"]"));
    };
    ModelConfig model = experiment.model;
    set_next_sentence(model, experiment.data.objective == Objective::mlm_nsp);
    if (const std::string why = why_not_hugging_face(model); !why.empty())
        for (const char* format : {"hf", "sentence-transformers"}) refuse(format, "because " + why);
    if (const std::string why = why_not_nvidia(model); !why.empty()) refuse("nvidia", "because " + why);
}

}  // namespace

std::span<const ForeignName> PipelineConfig::foreign_names() { return old_names; }

PipelineConfig load_pipeline(const std::filesystem::path& file) {
    const std::string name = file.string();
    if (has_shell_assignments(load_settings_text(file)))
        throw ConfigError(concat(
            name, ": holds shell assignments; expected JSON, which pipelines have now\n  do: copy configs/pipeline.json and set ",
            "there: experiment, models and ranks as before; data.training_shards (was shards), evaluation.held_out_shards ",
            "(held_out), evaluation.tolerance, embedding.text (text), embedding.vectors, training.set (train_options, without ",
            "--set)"));
    const auto pipeline = read_config<PipelineConfig>(load_settings(file), name);
    Refusals refusals;
    refusals.attempt([&] { check_data(pipeline.data, name); });
    refusals.attempt([&] { check_shard_options(pipeline.data.shard_options, name); });
    refusals.attempt([&] { check_experiment(pipeline, name); });
    refusals.throw_if_any();
    return pipeline;
}

void check_pipeline_paths(const PipelineConfig& pipeline, const fs::path& file) {
    Refusals refusals;
    const auto refuse = [&](const char* setting, const std::string& path, const char* expected) {
        refusals.attempt([&] {
            throw ConfigError(concat(file.string(), ": ", setting, " = \"", path, "\": is no ", expected, "; check the path",
                                     start_of_relative(path)));
        });
    };
    const std::string& held_out = pipeline.evaluation.held_out_shards;
    if (!is_object_url(held_out) && !fs::is_directory(held_out)) refuse("evaluation.held_out_shards", held_out, "folder");
    if (const auto& text = pipeline.embedding.text; text && !is_remote_address(*text) && !fs::exists(*text))
        refuse("embedding.text", *text, "file or folder");
    refusals.throw_if_any();
}

}  // namespace bertpretrain
