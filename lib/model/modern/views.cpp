#include "model/modern/views.h"

namespace bertpretrain::modern {
namespace {

Views views(const Design& design, const FlatParameters& parameters, bool gradients) {
    const auto find = [&](const std::string& name) { return gradients ? parameters.gradient(name) : parameters.weight(name); };
    const auto norm = [&](const std::string& name) { return NormParameters{find(name + ".weight"), {}, design.norm}; };
    const auto layer_name = [](std::int64_t i) { return "model.layers." + std::to_string(i); };
    Views all;
    all.word_VH = find("model.embeddings.tok_embeddings.weight");
    all.first_norm = norm(design.norms_embeddings ? "model.embeddings.norm" : "model.layers.0.attn_norm");
    for (std::int64_t i = 0; i < design.layers; ++i) {
        const std::string name = layer_name(i);
        const bool last = i + 1 == design.layers;
        all.layers.push_back({find(name + ".attn.Wqkv.weight"), find(name + ".attn.Wo.weight"), norm(name + ".mlp_norm"),
                              find(name + ".mlp.Wi.weight"), find(name + ".mlp.Wo.weight"),
                              norm(last ? "model.final_norm" : layer_name(i + 1) + ".attn_norm")});
    }
    all.heads.decoder_VH = design.transforms ? all.word_VH : find("decoder.weight");
    if (design.transforms) {
        all.heads.transform_weight = find("head.dense.weight");
        all.heads.transform_norm = norm("head.norm");
    }
    all.heads.decoder_bias_V = find("decoder.bias");
    return all;
}

}  // namespace

Views weight_views(const Design& design, const FlatParameters& parameters) { return views(design, parameters, false); }
Views gradient_views(const Design& design, const FlatParameters& parameters) { return views(design, parameters, true); }

}  // namespace bertpretrain::modern
