#include "model/architecture.h"

#include <algorithm>
#include <stdexcept>

#include "core/error.h"
#include "core/strings.h"
#include "model/bert/bert.h"
#include "model/bert/cost.h"
#include "model/bert/hugging_face.h"
#include "model/bert/parameters.h"
#include "model/bert/torchscript.h"
#include "model/modern/cost.h"
#include "model/modern/hugging_face.h"
#include "model/modern/modern.h"
#include "model/modern/neobert_hugging_face.h"
#include "model/modern/parameters.h"
#include "model/modern/torchscript.h"

namespace bertpretrain {
namespace {

/// Calls `visit` with the settings of the architecture that the model has.
decltype(auto) with_settings(auto& model, auto&& visit) {
    switch (model.model_type) {
        case ModelType::bert:
            return visit(model.bert);
        case ModelType::modernbert:
            return visit(model.modernbert);
        case ModelType::neobert:
            return visit(model.neobert);
    }
    throw std::logic_error("unknown model_type");
}

/// Calls `visit` with what the model computes: a room's settings, or what several kinds of settings of one room come to.
decltype(auto) with_design(const ModelConfig& model, auto&& visit) {
    switch (model.model_type) {
        case ModelType::bert:
            return visit(model.bert);
        case ModelType::modernbert:
            return visit(design_of(model.modernbert));
        case ModelType::neobert:
            return visit(design_of(model.neobert));
    }
    throw std::logic_error("unknown model_type");
}

}  // namespace

std::vector<ModelConfig> ModelConfig::variants() {
    std::vector<ModelConfig> all;
    for (const std::string_view type : choice_names<ModelType>) all.emplace_back().model_type = choice_named<ModelType>(type);
    return all;
}

void check_model(const ModelConfig& model) {
    with_settings(model, [](const auto& of) { check_settings(of); });
}

ModelShape shape_of(const ModelConfig& model) {
    return with_design(model, [](const auto& of) { return shape_of(of); });
}

void set_vocab_size(ModelConfig& model, std::int64_t rows) {
    with_settings(model, [&](auto& of) { of.vocab_size = rows; });
}

void set_next_sentence(ModelConfig& model, bool has) {
    with_settings(model, [&](auto& of) {
        if constexpr (requires { of.next_sentence; }) of.next_sentence = has;
    });
}

std::string summary_of(const ModelConfig& model) {
    return with_settings(model, [](const auto& of) { return summary_of(of); });
}

ModelParameters parameters_of(const ModelConfig& model) {
    return with_design(model, [](const auto& of) { return parameters_of(of); });
}

ParameterLayout layout_of(const ModelConfig& model, double bucket_mib, std::int64_t shards) {
    const auto bucket_elements = static_cast<std::int64_t>(bucket_mib * 1024 * 1024 / 4);
    return {parameters_of(model).layout_order, std::max<std::int64_t>(1, bucket_elements), shards};
}

double model_flops(const ModelConfig& model, double tokens, double square_lengths, double masked, double sequences) {
    return with_design(model, [&](const auto& of) { return model_flops(of, tokens, square_lengths, masked, sequences); });
}

std::vector<double> stage_shares(const ModelConfig& model, double tokens_per_sequence, double masked_per_sequence) {
    return with_design(model, [&](const auto& of) { return stage_shares(of, tokens_per_sequence, masked_per_sequence); });
}

std::uint64_t activation_bytes(const ModelConfig& model, const ActivationShape& shape) {
    return with_design(model, [&](const auto& of) { return activation_bytes(of, shape); });
}

std::vector<LinearShape> matmuls_of(const ModelConfig& model) {
    return with_design(model, [](const auto& of) { return matmuls_of(of); });
}

ModelConfig from_hugging_face(const nlohmann::json& json, const std::string& file) {
    const std::string type = json.value("model_type", "bert");
    ModelConfig model;
    if (std::ranges::find(bert_types(), type) != bert_types().end()) model.bert = bert_from_hugging_face(json, file);
    else if (type == "modernbert") {
        model.model_type = ModelType::modernbert;
        model.modernbert = modernbert_from_hugging_face(json, file);
    } else if (type == "neobert") {
        model.model_type = ModelType::neobert;
        model.neobert = neobert_from_hugging_face(json, file);
    } else
        throw CheckpointError(concat(file, ": model_type is \"", type, "\", expected one of ",
                                     join(std::vector<std::string>(bert_types().begin(), bert_types().end())),
                                     ", modernbert, neobert"));
    return model;
}

nlohmann::ordered_json to_hugging_face(const ModelConfig& model, const std::string& task, std::int64_t padding_id) {
    return with_settings(model, [&](const auto& of) { return to_hugging_face(of, task, padding_id); });
}

std::string why_not_hugging_face(const ModelConfig& model) {
    return with_settings(model, [](const auto& of) { return why_not_hugging_face(of); });
}

std::string why_not_nvidia(const ModelConfig& model) {
    return with_settings(model, [](const auto& of) { return why_not_nvidia(of); });
}

const NamingRules& naming_rules(const ModelConfig& model) {
    return with_settings(model, [](const auto& of) -> const NamingRules& { return naming_rules(of); });
}

const NamingRules& exported_form(const ModelConfig& model) {
    return with_settings(model, [](const auto& of) -> const NamingRules& { return exported_form(of); });
}

bool are_of_a_model(const std::vector<std::string>& names) {
    return std::ranges::any_of(ModelConfig::variants(), [&](const ModelConfig& model) {
        return !name_prefixes(naming_rules(model), names).empty() || !name_prefixes(exported_form(model), names).empty();
    });
}

std::string nvidia_name(const ModelConfig& model, const std::string& ours) {
    return with_settings(model, [&](const auto& of) { return nvidia_name(of, ours); });
}

std::span<const std::string_view> arithmetic_settings(const ModelConfig& model) {
    return with_settings(model, [](const auto& of) { return arithmetic_settings(of); });
}

std::span<const std::string_view> pretraining_dropout(const ModelConfig& model) {
    return with_settings(model, [](const auto& of) { return pretraining_dropout(of); });
}

std::vector<TorchscriptModule> torchscript_of(const ModelConfig& model, bool has_heads) {
    return with_design(model, [&](const auto& of) { return torchscript_of(of, has_heads); });
}

std::unique_ptr<Model> make_model(const ModelConfig& model, const FlatParameters& parameters, const ModelChoices& choices) {
    return with_design(model, [&](const auto& of) { return make_model(of, parameters, choices); });
}

}  // namespace bertpretrain
