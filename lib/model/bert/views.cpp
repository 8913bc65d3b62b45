#include "model/bert/views.h"

namespace bertpretrain::bert {
namespace {

/// Finds parameters by name, as weights or as gradients.
struct Lookup {
    const FlatParameters& parameters;
    bool gradients;

    at::Tensor one(const std::string& name) const { return gradients ? parameters.gradient(name) : parameters.weight(name); }
    at::Tensor three(const std::string& name) const {
        return gradients ? parameters.fused_gradient(name, 3) : parameters.fused_weight(name, 3);
    }
    NormParameters norm(const std::string& name) const { return {one(name + ".weight"), one(name + ".bias")}; }
};

Views views(const BertConfig& config, const Lookup& find) {
    const bool pre = config.norm_placement == NormPlacement::pre_ln;
    const auto layer_name = [](std::int64_t i) { return "bert.encoder.layer." + std::to_string(i); };
    Views all;
    all.word_VH = find.one("bert.embeddings.word_embeddings.weight");
    all.position_PH = find.one("bert.embeddings.position_embeddings.weight");
    all.type_KH = find.one("bert.embeddings.token_type_embeddings.weight");
    all.first_norm = find.norm(pre ? layer_name(0) + ".attention.ln" : "bert.embeddings.LayerNorm");
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const std::string name = layer_name(i);
        const bool last = i + 1 == config.num_hidden_layers;
        const std::string next_norm = last ? "bert.encoder.ln" : layer_name(i + 1) + ".attention.ln";
        all.layers.push_back({find.three(name + ".attention.self.query.weight"), find.three(name + ".attention.self.query.bias"),
                              find.one(name + ".attention.output.dense.weight"), find.one(name + ".attention.output.dense.bias"),
                              find.norm(name + (pre ? ".ln" : ".attention.output.LayerNorm")),
                              find.one(name + ".intermediate.dense.weight"), find.one(name + ".intermediate.dense.bias"),
                              find.one(name + ".output.dense.weight"), find.one(name + ".output.dense.bias"),
                              find.norm(pre ? next_norm : name + ".output.LayerNorm")});
    }
    all.heads.decoder_VH = all.word_VH;
    all.heads.transform_weight = find.one("cls.predictions.transform.dense.weight");
    all.heads.transform_bias = find.one("cls.predictions.transform.dense.bias");
    all.heads.transform_norm = find.norm("cls.predictions.transform.LayerNorm");
    all.heads.decoder_bias_V = find.one("cls.predictions.bias");
    if (!config.next_sentence) return all;
    all.heads.pooler_weight = find.one("bert.pooler.dense.weight");
    all.heads.pooler_bias = find.one("bert.pooler.dense.bias");
    all.heads.next_sentence_weight = find.one("cls.seq_relationship.weight");
    all.heads.next_sentence_bias = find.one("cls.seq_relationship.bias");
    return all;
}

}  // namespace

Views weight_views(const BertConfig& config, const FlatParameters& parameters) { return views(config, {parameters, false}); }
Views gradient_views(const BertConfig& config, const FlatParameters& parameters) { return views(config, {parameters, true}); }

}  // namespace bertpretrain::bert
