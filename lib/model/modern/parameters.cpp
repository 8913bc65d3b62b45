#include "model/modern/parameters.h"

#include <utility>

#include "model/layered_model.h"

namespace bertpretrain {
namespace {

/// The table's rows, in the order of transformers' state_dict of ModernBERT.
class Table : public ParameterRows {
public:
    explicit Table(const modern::Design& design) : design_(design), H_(design.hidden) {}

    ParameterSpec& matrix(const std::string& name, std::int64_t outputs, std::int64_t inputs, double deviation,
                          bool is_in_layer = true) {
        ParameterSpec& spec = add(name, {outputs, inputs}, design_.initial);
        spec.deviation = deviation;
        spec.cut_at = design_.cut_at;
        spec.overwrites_gradient = is_in_layer;
        return spec;
    }
    /// The word embedding, or the decoder.
    ParameterSpec& words(const std::string& name, double deviation) {
        ParameterSpec& spec = matrix(name, design_.vocabulary, H_, deviation, /*is_in_layer=*/false);
        spec.fp32_gradient = true;
        spec.rows = RowsMeaning::per_token;
        return spec;
    }
    void norm(const std::string& name) { add(name, {H_}, InitialValues::ones); }
    void decoder_bias(const std::string& name) {
        add(name, {design_.vocabulary}, InitialValues::zeros).rows = RowsMeaning::per_token;
    }

private:
    const modern::Design& design_;
    std::int64_t H_;
};

}  // namespace

ModelParameters modern::parameters_of(const Design& design) {
    const auto layers = static_cast<std::size_t>(design.layers), last_stage = 2 * layers + 1;
    const std::int64_t H = design.hidden, F = design.intermediate;
    Table table(design);
    table.begin(ModelPart::encoder, last_stage);
    ParameterSpec& words = table.words("model.embeddings.tok_embeddings.weight", design.initial_words);
    if (design.transforms) words.tied_name = "decoder.weight";
    if (design.norms_embeddings) table.norm("model.embeddings.norm.weight");
    for (std::size_t i = 0; i < layers; ++i) {
        const std::string name = "model.layers." + std::to_string(i);
        const std::size_t feed_forward = feed_forward_stage(layers, i);
        const bool is_first_norm = i == 0 && !design.norms_embeddings;
        table.begin(ModelPart::encoder, is_first_norm ? last_stage : feed_forward + 1);
        if (i > 0 || is_first_norm) table.norm(name + ".attn_norm.weight");
        table.begin(ModelPart::encoder, feed_forward + 1);
        table.matrix(name + ".attn.Wqkv.weight", 3 * H, H, design.initial_inner).row_blocks = 3;
        table.matrix(name + ".attn.Wo.weight", H, H, design.initial_outer);
        table.begin(ModelPart::encoder, feed_forward);
        table.norm(name + ".mlp_norm.weight");
        table.matrix(name + ".mlp.Wi.weight", 2 * F, H, design.initial_inner).row_blocks = 2;
        table.matrix(name + ".mlp.Wo.weight", H, F, design.initial_outer);
    }
    table.begin(ModelPart::encoder, 0);
    table.norm("model.final_norm.weight");
    table.begin(ModelPart::masked_words_head, 0);
    if (design.transforms) {
        table.matrix("head.dense.weight", H, H, design.initial_outer, /*is_in_layer=*/false);
        table.norm("head.norm.weight");
    } else table.words("decoder.weight", design.initial_decoder);
    table.decoder_bias("decoder.bias");
    return in_both_orders(std::move(table.rows), last_stage + 1);
}

}  // namespace bertpretrain
