#include "checkpoint/described_model.h"

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr const char *the_file = "the file", *this_experiment = "this experiment";

std::string difference_line(const std::string& name, const nlohmann::json& there, const nlohmann::json& here,
                            const std::string& place_there = the_file, const std::string& place_here = this_experiment) {
    return concat("model.", name, ": ", there.dump(), " in ", place_there, ", ", here.dump(), " in ", place_here);
}

/// The settings that change what a model computes but not the shapes of its tensors: model_type, and those of a common type.
std::vector<std::string> names_of_arithmetic(const ModelConfig& a, const ModelConfig& b) {
    std::vector<std::string> names{"model_type"};
    if (a.model_type == b.model_type)
        for (const std::string_view name : arithmetic_settings(b)) names.emplace_back(name);
    return names;
}

/// The shapes of the tensors, without numbers of rows that may differ.
std::vector<std::vector<std::int64_t>> fixed_shapes(ModelConfig model) {
    set_next_sentence(model, false);  // no setting of the model decides this
    std::vector<std::vector<std::int64_t>> shapes;
    for (const ParameterSpec& spec : parameters_of(model).checkpoint_order) {
        shapes.push_back(spec.shape);
        if (spec.rows != RowsMeaning::fixed) shapes.back().erase(shapes.back().begin());
    }
    return shapes;
}

}  // namespace

ModelConfig trained_model(const nlohmann::ordered_json& settings, const std::string& where) {
    auto config = read_config<ModelConfig>(settings.at("model"), where + ": model");
    const auto data = settings.find("data");
    set_next_sentence(config, data == settings.end() || data->value("objective", "mlm_nsp") != "mlm");
    return config;
}

ModelConfig described_model(const std::filesystem::path& file) {
    const nlohmann::json json = read_json(file);
    try {
        const bool is_ours = json.is_object() && json.contains("model") && json["model"].is_object();
        if (!json.is_object())
            throw CheckpointError(concat(file.string(), ": does not describe a model: it is not a JSON object"));
        const auto config = is_ours ? trained_model(json, file.string()) : from_hugging_face(json, file.string());
        check_model(config);
        return config;
    } catch (const nlohmann::json::exception& error) {
        throw CheckpointError(concat(file.string(), ": does not describe a model (", first_line(error.what()), ")"));
    } catch (const ConfigError& error) {
        throw CheckpointError(concat(file.string(), ": describes a model that this program does not support: ", error.what()));
    }
}

std::vector<std::string> differing_shapes(const ModelConfig& described, const ModelConfig& wanted) {
    std::vector<std::string> lines;
    if (described.model_type != wanted.model_type) return lines;
    const nlohmann::json there = write_config(described), here = write_config(wanted);
    const auto shapes = fixed_shapes(wanted);
    for (const auto& [name, value] : there.items()) {
        nlohmann::json changed = here;
        changed[name] = value;
        if (fixed_shapes(read_config<ModelConfig>(changed, "model")) != shapes)
            lines.push_back(difference_line(name, value, here.at(name)));
    }
    return lines;
}

std::vector<std::string> differing_arithmetic(const ModelConfig& a, const ModelConfig& b, const std::string& place_a,
                                              const std::string& place_b) {
    const nlohmann::json of_a = write_config(a), of_b = write_config(b);
    std::vector<std::string> lines;
    for (const std::string& name : names_of_arithmetic(a, b))
        if (of_a.at(name) != of_b.at(name)) lines.push_back(difference_line(name, of_a[name], of_b[name], place_a, place_b));
    return lines;
}

void refuse_other_arithmetic(const ModelConfig& described, const ModelConfig& wanted, const std::filesystem::path& file,
                             const std::vector<std::string>& may_change) {
    const nlohmann::json there = write_config(described), here = write_config(wanted);
    const std::vector<std::string> names = names_of_arithmetic(described, wanted);
    std::vector<std::string> problems;
    for (const std::string& name : may_change)
        if (name == "model_type" || std::ranges::find(names, name) == names.end())
            throw ConfigError(concat("initialization.init_changes names \"", name, "\"; of model_type ",
                                     name_of(wanted.model_type),
                                     " there may be: ", join(std::vector(names.begin() + 1, names.end()))));
    for (const std::string& name : names)
        if (there.at(name) != here.at(name) && std::ranges::find(may_change, name) == may_change.end())
            problems.push_back(difference_line(name, there[name], here[name]));
    if (problems.empty()) return;
    for (std::string& line : differing_shapes(described, wanted)) problems.push_back(std::move(line));
    throw ConfigError(concat(file.string(), ": describes a different model:\n  ", join(problems, "\n  "),
                             "\n  do: leave these settings out, so that they have the file's values, or name what shall change ",
                             "in initialization.init_changes"));
}

}  // namespace bertpretrain
