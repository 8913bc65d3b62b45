#include "model/modern/hugging_face.h"

#include <array>
#include <cstdint>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "model/config_json.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

/// The fields of a config.json of model_type modernbert, besides those of all (config_json.h).
std::span<const ForeignField> config_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"attention_bias", refused, "[false]"},
        {"attention_dropout", obeyed},
        {"classifier_activation", refused, R"(["gelu"])"},  // of the head for masked words, too
        {"classifier_bias", refused, "[false]"},            // likewise
        {"classifier_pooling", nothing},
        {"decoder_bias", refused, "[true]"},
        {"deterministic_flash_attn", nothing},
        {"embedding_dropout", refused, "[0]"},
        {"global_attn_every_n_layers", obeyed},
        {"global_rope_theta", obeyed},
        {"head_dim", obeyed},
        {"hidden_activation", obeyed},
        {"initializer_cutoff_factor", obeyed},
        {"is_causal", refused, "[false]"},
        {"layer_norm_eps", nothing},  // published files have it beside norm_eps; no class reads it
        {"layer_types", obeyed},
        {"local_attention", obeyed},
        {"local_rope_theta", obeyed},
        {"mlp_bias", refused, "[false]"},
        {"mlp_dropout", refused, "[0]"},
        {"norm_bias", refused, "[false]"},
        {"norm_eps", obeyed},
        {"pad_token_id", nothing},
        {"position_embedding_type", nothing},  // published files have "absolute" or "sans_pos"; no class reads it
        {"reference_compile", nothing},
        {"repad_logits_with_grad", nothing},
        {"rope_parameters", obeyed},
        {"rope_scaling", refused, "[{}]"},
        {"sliding_window", obeyed},
        {"sparse_pred_ignore_index", nothing},
        {"sparse_prediction", nothing},
    });
    return fields;
}

[[noreturn]] void refuse(const std::string& file, const std::string& what) { throw CheckpointError(concat(file, ": ", what)); }

/// Whether the field is there and not null.
bool has(const json& object, const char* name) { return object.contains(name) && !object[name].is_null(); }

/// Reads rope_parameters of transformers 5 into the thetas.
void read_rope_parameters(const json& rope, json& fields, const std::string& file) {
    for (const auto& [kind, parameters] : rope.items()) {
        const char* name = kind == "full_attention"      ? "global_rope_theta"
                           : kind == "sliding_attention" ? "local_rope_theta"
                                                         : nullptr;
        if (name == nullptr || !parameters.is_object())
            refuse(file, concat("rope_parameters has \"", kind, "\", expected full_attention and sliding_attention"));
        for (const auto& [key, value] : parameters.items()) {
            const bool is_default = key == "rope_type" && value == "default";
            if (key != "rope_theta" && !is_default && !value.is_null())
                refuse(file, concat("rope_parameters.", kind, ".", key, " is ", value.dump(),
                                    ", which this program does not support; expected rope_type \"default\" and rope_theta"));
        }
        if (has(parameters, "rope_theta")) fields[name] = parameters["rope_theta"];
    }
}

/// Reads sliding_window, half a window, which transformers 5 puts in the place of local_attention.
void take_sliding_window(const json& given, json& fields, const std::string& file) {
    if (!has(given, "sliding_window")) return;
    if (!given["sliding_window"].is_number_integer() || given["sliding_window"] < 1 || given["sliding_window"] > INT32_MAX)
        refuse(file, concat("sliding_window is ", given["sliding_window"].dump(), ", expected half of a window, at least 1"));
    fields["local_attention"] = 2 * given["sliding_window"].get<std::int64_t>();
}

/// Refuses a head_dim that transformers would not use for queries and keys, but for their rotation.
void check_head_size(const json& given, const ModernBertConfig& config, const std::string& file) {
    const std::int64_t size = config.hidden_size / config.num_attention_heads;
    if (has(given, "head_dim") && given["head_dim"] != size)
        refuse(file, concat("head_dim is ", given["head_dim"].dump(), ", expected hidden_size / num_attention_heads = ", size));
}

/// Returns n, where layers 0, n, 2 n, ... are the global ones. @param wanted  of global_attn_every_n_layers; 0: not given
std::int64_t period_of(const json& layer_types, std::int64_t wanted, const std::string& file) {
    const auto layers = static_cast<std::int64_t>(layer_types.size());
    const auto fits = [&](std::int64_t n) {
        for (std::int64_t i = 0; i < layers; ++i)
            if (layer_types[static_cast<std::size_t>(i)] != (i % n == 0 ? "full_attention" : "sliding_attention")) return false;
        return true;
    };
    if (wanted > 0 && fits(wanted)) return wanted;
    if (wanted > 0)
        refuse(file, concat("layer_types and global_attn_every_n_layers = ", wanted, " describe different layers; expected one"));
    for (std::int64_t n = 1; n <= layers; ++n)
        if (fits(n)) return n;
    refuse(file, concat("layer_types is ", layer_types.dump().substr(0, 100),
                        ", which this program does not support; expected full_attention in every n-th layer from the first on"));
}

}  // namespace

ModernBertConfig modernbert_from_hugging_face(const json& given, const std::string& file) {
    check_config_json(given, config_fields(), file);
    json fields = write_config(ModernBertConfig());
    fields["vocab_size"] = 50368;
    for (const auto& [name, value] : fields.items())
        if (has(given, name.c_str()) && name != "attention_output_dropout") fields[name] = given[name];
    take_sliding_window(given, fields, file);
    // transformers 4 takes the global theta where the local one is null
    if (given.contains("local_rope_theta") && given["local_rope_theta"].is_null())
        fields["local_rope_theta"] = fields["global_rope_theta"];
    if (has(given, "rope_parameters")) {
        json newer = fields;
        read_rope_parameters(given["rope_parameters"], newer, file);
        for (const char* name : {"global_rope_theta", "local_rope_theta"})
            if (has(given, name) && given[name].get<double>() != newer[name].get<double>())
                refuse(file, concat(name, " = ", given[name].dump(), " and rope_parameters (", newer[name].dump(),
                                    ") differ; expected one value"));
        fields = newer;
    }
    if (has(given, "layer_types")) {
        if (given["layer_types"].size() != fields["num_hidden_layers"].get<std::size_t>())
            refuse(file, concat("layer_types has ", given["layer_types"].size(), " entries for ",
                                fields["num_hidden_layers"].dump(), " layers"));
        const std::int64_t wanted =
            has(given, "global_attn_every_n_layers") ? given["global_attn_every_n_layers"].get<std::int64_t>() : 0;
        fields["global_attn_every_n_layers"] = period_of(given["layer_types"], wanted, file);
    }
    if (fields["hidden_activation"] == "gelu_new") fields["hidden_activation"] = "gelu_pytorch_tanh";
    if (fields["hidden_activation"] == "swish") fields["hidden_activation"] = "silu";
    fields["attention_output_dropout"] = fields["attention_dropout"];  // one field for both there
    const auto config = read_config<ModernBertConfig>(fields, file);
    check_head_size(given, config, file);
    return config;
}

nlohmann::ordered_json to_hugging_face(const ModernBertConfig& config, const std::string& task, std::int64_t padding_id) {
    const modern::Design design = design_of(config);
    auto layer_types = nlohmann::ordered_json::array();
    for (std::int64_t i = 0; i < design.layers; ++i)
        layer_types.push_back(design.is_global(i) ? "full_attention" : "sliding_attention");
    const auto rope = [](double theta) { return nlohmann::ordered_json{{"rope_theta", theta}, {"rope_type", "default"}}; };
    return {{"architectures", {"ModernBert" + task}},
            {"model_type", "modernbert"},
            {"hidden_size", config.hidden_size},
            {"num_hidden_layers", config.num_hidden_layers},
            {"num_attention_heads", config.num_attention_heads},
            {"intermediate_size", config.intermediate_size},
            {"vocab_size", config.vocab_size},
            {"max_position_embeddings", config.max_position_embeddings},
            {"hidden_activation", name_of(config.hidden_activation)},
            {"norm_eps", config.norm_eps},
            {"norm_bias", false},
            {"attention_bias", false},
            {"mlp_bias", false},
            {"decoder_bias", true},
            {"global_attn_every_n_layers", config.global_attn_every_n_layers},
            {"layer_types", layer_types},
            {"local_attention", config.local_attention},
            {"global_rope_theta", config.global_rope_theta},
            {"local_rope_theta", config.local_rope_theta},
            {"rope_parameters",
             {{"full_attention", rope(config.global_rope_theta)}, {"sliding_attention", rope(config.local_rope_theta)}}},
            {"attention_dropout", config.attention_dropout},
            {"embedding_dropout", 0.0},
            {"mlp_dropout", 0.0},
            {"classifier_activation", "gelu"},
            {"classifier_bias", false},
            {"classifier_dropout", 0.0},
            {"classifier_pooling", "mean"},
            {"initializer_range", config.initializer_range},
            {"initializer_cutoff_factor", config.initializer_cutoff_factor},
            {"pad_token_id", padding_id},
            {"bos_token_id", nullptr},
            {"cls_token_id", nullptr},
            {"eos_token_id", nullptr},
            {"sep_token_id", nullptr},
            {"tie_word_embeddings", true}};
}

std::string why_not_hugging_face(const ModernBertConfig&) { return ""; }

std::string why_not_nvidia(const ModernBertConfig&) {
    return "NVIDIA's and Habana's scripts do not support model.model_type modernbert";
}

const NamingRules& naming_rules(const ModernBertConfig&) {
    static constexpr std::array<std::string_view, 3> encoder_parts{"embeddings.", "layers.", "final_norm."};
    static constexpr std::array<std::string_view, 1> derived{"rotary_emb.inv_freq"};
    static constexpr NamingRules names{"model.", "embeddings.tok_embeddings.weight", encoder_parts, {}, {}, derived, {}};
    return names;
}

const NamingRules& exported_form(const ModernBertConfig& config) { return naming_rules(config); }

std::string nvidia_name(const ModernBertConfig&, const std::string& ours) { return ours; }

std::span<const std::string_view> arithmetic_settings(const ModernBertConfig&) {
    static constexpr std::array<std::string_view, 7> names{
        "num_attention_heads", "hidden_activation", "norm_eps",        "global_attn_every_n_layers",
        "local_attention",     "global_rope_theta", "local_rope_theta"};
    return names;
}

/// Its config.json has no field for the one dropout that ModernBERT was trained with, and says 0 in all others.
std::span<const std::string_view> pretraining_dropout(const ModernBertConfig&) { return {}; }

}  // namespace bertpretrain
