#include "model/modern/neobert_hugging_face.h"

#include <array>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "model/config_json.h"

namespace bertpretrain {
namespace {

/// The fields of a config.json of model_type neobert, besides those of all (config_json.h).
std::span<const ForeignField> neobert_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"auto_map", nothing},    // the authors' code, which this program does not run
        {"base_scale", nothing},  // of ngpt alone
        {"classifier_init_range", nothing},
        {"decoder_init_range", obeyed},
        {"dim_head", nothing},  // the class computes it
        {"dropout", refused, "[0]"},
        {"dropout_prob", refused, "[0]"},
        {"embedding_init_range", obeyed},
        {"flash_attention", nothing},
        {"hidden_act", refused, R"(["SwiGLU", "swiglu"])"},
        {"kwargs", nothing},
        {"max_length", obeyed},
        {"ngpt", refused, "[false]"},
        {"norm_eps", obeyed},
        {"pad_token_id", nothing},
        {"rms_norm", refused, "[true]"},
        {"rope", refused, "[true]"},
        {"tie_word_embeddings", nothing},  // the class never ties its decoder
    });
    return fields;
}

/// Returns the row of the authors' qkv.weight, whose rows are ordered by head, then query, key and value, for a row of ours,
/// which are ordered by query, key and value, then head. @param rows 3 H
std::int64_t qkv_place(std::int64_t row, std::int64_t rows, std::int64_t heads) {
    const std::int64_t H = rows / 3, D = H / heads, part = row / H, head = row % H / D, feature = row % D, half = D / 2;
    const bool is_value = part == 2;
    const std::int64_t theirs = is_value ? feature : feature < half ? 2 * feature : 2 * (feature - half) + 1;
    return (3 * head + part) * D + theirs;
}

}  // namespace

NeoBertConfig neobert_from_hugging_face(const nlohmann::json& given, const std::string& file) {
    check_config_json(given, neobert_fields(), file);
    nlohmann::json fields = write_config(NeoBertConfig());
    fields["vocab_size"] = 30522;  // the class's defaults, where they differ from the published model
    fields["norm_eps"] = 1e-6;
    fields["max_position_embeddings"] = 1024;
    for (const auto& [name, value] : fields.items()) {
        const std::string theirs = name == "max_position_embeddings" ? "max_length" : name;
        if (given.contains(theirs) && !given[theirs].is_null()) fields[name] = given[theirs];
    }
    return read_config<NeoBertConfig>(fields, file);
}

nlohmann::ordered_json to_hugging_face(const NeoBertConfig& config, const std::string& task, std::int64_t padding_id) {
    return {{"architectures", {task == "Model" ? "NeoBERT" : "NeoBERTLMHead"}},
            {"auto_map",
             {{"AutoConfig", "chandar-lab/NeoBERT--model.NeoBERTConfig"},
              {"AutoModel", "chandar-lab/NeoBERT--model.NeoBERT"},
              {"AutoModelForMaskedLM", "chandar-lab/NeoBERT--model.NeoBERTLMHead"}}},
            {"model_type", "neobert"},
            {"hidden_size", config.hidden_size},
            {"num_hidden_layers", config.num_hidden_layers},
            {"num_attention_heads", config.num_attention_heads},
            {"intermediate_size", config.intermediate_size},
            {"vocab_size", config.vocab_size},
            {"max_length", config.max_position_embeddings},
            {"norm_eps", config.norm_eps},
            {"embedding_init_range", config.embedding_init_range},
            {"decoder_init_range", config.decoder_init_range},
            {"hidden_act", "SwiGLU"},
            {"pad_token_id", padding_id}};
}

std::string why_not_hugging_face(const NeoBertConfig&) { return ""; }

std::string why_not_nvidia(const NeoBertConfig&) {
    return "NVIDIA's and Habana's scripts do not support model.model_type neobert";
}

const NamingRules& exported_form(const NeoBertConfig&) {
    using Pair = std::pair<std::string_view, std::string_view>;
    static constexpr std::array<std::string_view, 3> encoder_parts{"encoder.", "transformer_encoder.", "layer_norm."};
    static constexpr std::array<Pair, 9> parts{{{"model.encoder.", "model.embeddings.tok_embeddings."},
                                                {"model.transformer_encoder.", "model.layers."},
                                                {"model.layer_norm.", "model.final_norm."},
                                                {".qkv.", ".attn.Wqkv."},
                                                {".wo.", ".attn.Wo."},
                                                {".ffn.w12.", ".mlp.Wi."},
                                                {".ffn.w3.", ".mlp.Wo."},
                                                {".attention_norm.", ".attn_norm."},
                                                {".ffn_norm.", ".mlp_norm."}}};
    static constexpr std::array<std::string_view, 1> derived{"freqs_cis"}, types{"neobert"};
    static constexpr std::array<StoredRows, 1> rows{{{".attn.Wqkv.weight", 0, qkv_place}}};
    static constexpr NamingRules theirs{"model.", "encoder.weight", encoder_parts, parts, {}, derived, {}, rows, types};
    return theirs;
}

const NamingRules& naming_rules(const NeoBertConfig& config) {
    static constexpr std::array<std::string_view, 3> encoder_parts{"embeddings.", "layers.", "final_norm."};
    static const NamingRules ours{
        "model.", "embeddings.tok_embeddings.weight", encoder_parts, {}, {}, {}, {}, {}, {}, &exported_form(config)};
    return ours;
}

std::string nvidia_name(const NeoBertConfig&, const std::string& ours) { return ours; }

std::span<const std::string_view> arithmetic_settings(const NeoBertConfig&) {
    static constexpr std::array<std::string_view, 2> names{"num_attention_heads", "norm_eps"};
    return names;
}

std::span<const std::string_view> pretraining_dropout(const NeoBertConfig&) { return {}; }

}  // namespace bertpretrain
