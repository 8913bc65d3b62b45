#include "checkpoint/described_model.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/model_config_fields.h"
#include "config/foreign_fields.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// What transformers' classes use for fields that a config.json omits, where they differ from BERT's.
const nlohmann::json megatron_defaults{{"vocab_size", 29056},
                                       {"hidden_size", 1024},
                                       {"num_hidden_layers", 24},
                                       {"num_attention_heads", 16},
                                       {"intermediate_size", 4096}};

/// Returns this program's name for an activation that it has under another one.
nlohmann::json activation_named(const nlohmann::json& name) {
    if (name == "gelu_python") return "gelu";
    if (name == "gelu_python_tanh") return "gelu_pytorch_tanh";
    return name == "gelu_fast" || name == "gelu_accurate" ? nlohmann::json("gelu_new") : name;
}

/// Converts config.json to this program's model section; fields that it omits get the defaults of its model_type.
nlohmann::json our_fields(const nlohmann::json& config, const std::filesystem::path& file) {
    const auto refuse = [&](const std::string& what) { throw CheckpointError(concat(file.string(), ": ", what)); };
    const std::string type = config.value("model_type", "bert");
    if (type != "bert" && type != "megatron-bert")
        refuse("model_type is \"" + type + "\", expected \"bert\" or \"megatron-bert\"");
    check_foreign_fields(config, model_config_fields(), refuse);
    nlohmann::json fields = write_config(BertConfig());
    fields["vocab_size"] = 30522;
    if (type == "megatron-bert") fields.update(megatron_defaults);
    for (const auto& [name, value] : fields.items())
        if (config.contains(name) && !config[name].is_null() && name != "norm_placement") fields[name] = config[name];
    fields["hidden_act"] = activation_named(fields["hidden_act"]);
    fields["norm_placement"] = type == "bert" ? "post_ln" : "pre_ln";
    return fields;
}

}  // namespace

BertConfig trained_model(const nlohmann::ordered_json& settings, const std::string& where) {
    auto config = read_config<BertConfig>(settings.at("model"), where + ": model");
    const auto data = settings.find("data");
    config.next_sentence = data == settings.end() || data->value("objective", "mlm_nsp") != "mlm";
    return config;
}

BertConfig described_model(const std::filesystem::path& file) {
    const nlohmann::json json = read_json(file);
    try {
        const bool is_ours = json.is_object() && json.contains("model") && json["model"].is_object();
        if (!json.is_object())
            throw CheckpointError(concat(file.string(), ": does not describe a model: it is not a JSON object"));
        const auto config =
            is_ours ? trained_model(json, file.string()) : read_config<BertConfig>(our_fields(json, file), file.string());
        check_bert(config);
        return config;
    } catch (const nlohmann::json::exception& error) {
        throw CheckpointError(concat(file.string(), ": does not describe a model (", first_line(error.what()), ")"));
    } catch (const ConfigError& error) {
        throw CheckpointError(concat(file.string(), ": describes a model that this program does not support: ", error.what()));
    }
}

void refuse_other_arithmetic(const BertConfig& described, const BertConfig& wanted, const std::filesystem::path& file) {
    const nlohmann::json there = write_config(described), here = write_config(wanted);
    std::vector<std::string> problems;
    for (const char* name : {"num_attention_heads", "hidden_act", "layer_norm_eps", "norm_placement"})
        if (there[name] != here[name])
            problems.push_back(
                concat("model.", name, ": ", there[name].dump(), " in the file, ", here[name].dump(), " in this experiment"));
    if (!problems.empty())
        throw ConfigError(
            concat(file.string(), ": describes a different model:\n  ", join(problems, "\n  "), "\n  do: set the file's values"));
}

}  // namespace bertpretrain
