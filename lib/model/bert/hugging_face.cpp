#include "model/bert/hugging_face.h"

#include <algorithm>
#include <array>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "model/config_json.h"

namespace bertpretrain {
namespace {

/// RoBERTa and the models of its class: BERT with other names and positions.
constexpr std::array<std::string_view, 3> roberta_types{"roberta", "xlm-roberta", "camembert"};

/// The padding token's id. Positions count from the row after it in the table, so it decides which rows are read.
constexpr std::int64_t roberta_padding = 1, roberta_first_position = roberta_padding + 1;

/// The fields of a config.json of any model_type that bert_types() lists, besides those of all (config_json.h).
std::span<const ForeignField> config_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"add_cross_attention", refused, "[false]"},
        {"attention_probs_dropout_prob", obeyed},
        {"cross_attention_hidden_size", nothing},
        {"directionality", refused, R"(["bidi"])"},
        {"embedding_size", nothing},
        {"hidden_act", obeyed},
        {"hidden_dropout_prob", obeyed},
        {"layer_norm_eps", obeyed},
        {"norm_placement", nothing},  // our exports have it; model_type decides
        {"output_past", nothing},
        {"pad_token_id", nothing},    // except in RoBERTa's
        {"pooler_fc_size", nothing},  // of Google's files; no program acts on the pooler's fields
        {"pooler_num_attention_heads", nothing},
        {"pooler_num_fc_layers", nothing},
        {"pooler_size_per_head", nothing},
        {"pooler_type", nothing},
        {"position_embedding_type", refused, R"(["absolute"])"},
        {"pruned_heads", refused, "[{}]"},
        {"tie_encoder_decoder", nothing},
        {"type_vocab_size", obeyed},
    });
    return fields;
}

/// What transformers' classes use for fields that a config.json omits, where they differ from BERT's.
const nlohmann::json megatron_defaults{{"vocab_size", 29056},
                                       {"hidden_size", 1024},
                                       {"num_hidden_layers", 24},
                                       {"num_attention_heads", 16},
                                       {"intermediate_size", 4096}};

/// What model_type roberta changes in the meaning of fields.
std::span<const ForeignField> roberta_fields() {
    static constexpr auto fields = std::to_array<ForeignField>({
        {"hidden_act", ForeignField::Effect::refused, R"(["gelu", "gelu_python"])"},  // the MLM head's is gelu in any case
        {"pad_token_id", ForeignField::Effect::refused, "[1]"},
    });
    static_assert(roberta_padding == 1);
    return fields;
}

/// Fits the shape of a RoBERTa to this program's BERT: positions count from 0, and there are at least two token types.
void take_roberta_shape(nlohmann::json& fields, const std::string& file) {
    const auto rows = fields["max_position_embeddings"].get<std::int64_t>();
    if (rows <= roberta_first_position)
        throw CheckpointError(concat(file, ": max_position_embeddings is ", rows, ", expected more than ", roberta_first_position,
                                     ", because positions begin at row ", roberta_first_position, " of the table"));
    fields["max_position_embeddings"] = rows - roberta_first_position;
    fields["type_vocab_size"] = std::max(BertConfig().type_vocab_size, fields["type_vocab_size"].get<std::int64_t>());
}

/// Returns this program's name for an activation that it has under another one.
nlohmann::json activation_named(const nlohmann::json& name) {
    if (name == "gelu_python") return "gelu";
    if (name == "gelu_python_tanh") return "gelu_pytorch_tanh";
    return name == "gelu_fast" || name == "gelu_accurate" ? nlohmann::json("gelu_new") : name;
}

}  // namespace

std::span<const std::string_view> bert_types() {
    static constexpr std::array<std::string_view, 5> types{"bert", "megatron-bert", roberta_types[0], roberta_types[1],
                                                           roberta_types[2]};
    return types;
}

BertConfig bert_from_hugging_face(const nlohmann::json& json, const std::string& file) {
    check_config_json(json, config_fields(), file);
    const std::string type = json.value("model_type", "bert");
    const bool is_megatron = type == "megatron-bert";
    const bool is_roberta = std::ranges::find(roberta_types, type) != roberta_types.end();
    if (is_roberta) check_config_json(json, roberta_fields(), file);
    nlohmann::json fields = write_config(BertConfig());
    fields["vocab_size"] = type == "roberta" ? 50265 : 30522;
    if (is_megatron) fields.update(megatron_defaults);
    for (const auto& [name, value] : fields.items())
        if (json.contains(name) && !json[name].is_null() && name != "norm_placement") fields[name] = json[name];
    if (is_roberta) take_roberta_shape(fields, file);
    fields["hidden_act"] = activation_named(fields["hidden_act"]);
    fields["norm_placement"] = is_megatron ? "pre_ln" : "post_ln";
    return read_config<BertConfig>(fields, file);
}

nlohmann::ordered_json to_hugging_face(const BertConfig& config, const std::string& task, std::int64_t padding_id) {
    nlohmann::ordered_json json;
    switch (config.norm_placement) {
        case NormPlacement::post_ln:
            json = {{"architectures", {"Bert" + task}}, {"model_type", "bert"}};
            break;
        case NormPlacement::pre_ln:
            json = {{"architectures", {"MegatronBert" + task}}, {"model_type", "megatron-bert"}};
            break;
        case NormPlacement::pre_ln_zero_residual:
            json = {{"norm_placement", "pre_ln_zero_residual"}};
            break;
    }
    json.update({{"hidden_size", config.hidden_size},
                 {"num_hidden_layers", config.num_hidden_layers},
                 {"num_attention_heads", config.num_attention_heads},
                 {"intermediate_size", config.intermediate_size},
                 {"vocab_size", config.vocab_size},
                 {"max_position_embeddings", config.max_position_embeddings},
                 {"type_vocab_size", config.type_vocab_size},
                 {"hidden_act", name_of(config.hidden_act)},
                 {"hidden_dropout_prob", config.hidden_dropout_prob},
                 {"attention_probs_dropout_prob", config.attention_probs_dropout_prob},
                 {"layer_norm_eps", config.layer_norm_eps},
                 {"initializer_range", config.initializer_range},
                 {"pad_token_id", padding_id},
                 {"position_embedding_type", "absolute"},
                 {"tie_word_embeddings", true}});
    return json;
}

std::string why_not_hugging_face(const BertConfig& config) {
    if (config.norm_placement != NormPlacement::pre_ln_zero_residual) return "";
    return "transformers has no class for model.norm_placement pre_ln_zero_residual (BertForPreTraining would load the weights "
           "but "
           "compute something else)";
}

std::string why_not_nvidia(const BertConfig& config) {
    if (config.norm_placement == NormPlacement::pre_ln)
        return "NVIDIA's and Habana's scripts do not support model.norm_placement pre_ln";
    return config.next_sentence
               ? ""
               : "NVIDIA's and Habana's scripts need a pooler and a head for next sentences, and this model has none";
}

const NamingRules& naming_rules(const BertConfig&) {
    using Pair = std::pair<std::string_view, std::string_view>;
    static constexpr std::string_view word_embedding = "embeddings.word_embeddings.weight";
    static constexpr std::array<std::string_view, 3> encoder_parts{"embeddings.", "encoder.", "pooler."};
    static constexpr std::array<Pair, 1> parts{{{".dense_act.", ".dense."}}};
    static constexpr std::array<Pair, 2> endings{{{".gamma", ".weight"}, {".beta", ".bias"}}};  // TensorFlow's
    static constexpr std::array<std::string_view, 2> derived{"embeddings.position_ids", "embeddings.token_type_ids"};
    static constexpr std::array<std::string_view, 21> models{
        "albert", "bert",  "convbert", "data2vec_text", "deberta",  "distilbert", "electra",
        "ernie",  "esm",   "ibert",    "layoutlm",      "lilt",     "longformer", "mobilebert",
        "mpnet",  "nezha", "rembert",  "roberta",       "roformer", "splinter",   "squeezebert"};
    static constexpr std::array<Pair, 5> roberta_parts{{{"roberta.", "bert."},
                                                        {"lm_head.dense.", "cls.predictions.transform.dense."},
                                                        {"lm_head.layer_norm.", "cls.predictions.transform.LayerNorm."},
                                                        {"lm_head.decoder.", "cls.predictions.decoder."},
                                                        {"lm_head.bias", "cls.predictions.bias"}}};
    static constexpr auto after_padding = [](std::int64_t row, std::int64_t, std::int64_t) {
        return row + roberta_first_position;
    };
    static constexpr std::array<StoredRows, 2> roberta_rows{
        {{"embeddings.position_embeddings.weight", roberta_first_position, after_padding, false},
         {"embeddings.token_type_embeddings.weight", 0, nullptr, true}}};
    static constexpr NamingRules robertas{"roberta.", word_embedding, encoder_parts, roberta_parts, endings,
                                          derived,    models,         roberta_rows,  roberta_types};
    static constexpr NamingRules names{"bert.", word_embedding, encoder_parts, parts, endings, derived, models, {},
                                       {},      &robertas};
    return names;
}

const NamingRules& exported_form(const BertConfig&) {
    static constexpr NamingRules names{"bert.", "embeddings.word_embeddings.weight", {}, {}, {}, {}, {}};
    return names;
}

std::string nvidia_name(const BertConfig&, const std::string& ours) {
    if (ours == "cls.predictions.decoder.bias") return "";  // their decoder has no bias of its own
    std::string name = ours;
    for (const std::string_view dense : {"intermediate.dense.", "pooler.dense.", "transform.dense."})
        if (const std::size_t at = name.find(dense); at != std::string::npos) name.insert(at + dense.size() - 1, "_act");
    return name;
}

std::span<const std::string_view> arithmetic_settings(const BertConfig&) {
    static constexpr std::array<std::string_view, 4> names{"num_attention_heads", "hidden_act", "layer_norm_eps",
                                                           "norm_placement"};
    return names;
}

std::span<const std::string_view> pretraining_dropout(const BertConfig&) {
    static constexpr std::array<std::string_view, 2> names{"hidden_dropout_prob", "attention_probs_dropout_prob"};
    return names;
}

}  // namespace bertpretrain
