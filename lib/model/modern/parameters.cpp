#include "model/modern/parameters.h"

#include <cmath>
#include <utility>

#include "model/layered_model.h"

namespace bertpretrain {
namespace {

/// The table's rows, in the order of transformers' state_dict.
class Table : public ParameterRows {
public:
    explicit Table(const ModernBertConfig& config) : config_(config), H_(config.hidden_size) {}

    void matrix(const std::string& name, std::int64_t outputs, std::int64_t inputs, double deviation, bool is_in_layer = true) {
        ParameterSpec& spec = add(name, {outputs, inputs}, InitialValues::normal);
        spec.deviation = deviation;
        spec.cut_at = config_.initializer_cutoff_factor;
        spec.overwrites_gradient = is_in_layer;
    }
    void words(const std::string& name, const std::string& tied_name) {
        matrix(name, config_.vocab_size, H_, config_.initializer_range, /*is_in_layer=*/false);
        ParameterSpec& spec = rows.back().spec;
        spec.fp32_gradient = true;
        spec.rows = RowsMeaning::per_token;
        spec.tied_name = tied_name;
    }
    void norm(const std::string& name) { add(name, {H_}, InitialValues::ones); }
    void decoder_bias(const std::string& name) {
        add(name, {config_.vocab_size}, InitialValues::zeros).rows = RowsMeaning::per_token;
    }

private:
    const ModernBertConfig& config_;
    std::int64_t H_;
};

}  // namespace

ModelParameters parameters_of(const ModernBertConfig& config) {
    const auto layers = static_cast<std::size_t>(config.num_hidden_layers), last_stage = 2 * layers + 1;
    const std::int64_t H = config.hidden_size, F = config.intermediate_size;
    const double inner = config.initializer_range, outer = inner / std::sqrt(2.0 * static_cast<double>(config.num_hidden_layers));
    Table table(config);
    table.begin(ModelPart::encoder, last_stage);
    table.words("model.embeddings.tok_embeddings.weight", "decoder.weight");
    table.norm("model.embeddings.norm.weight");
    for (std::size_t i = 0; i < layers; ++i) {
        const std::string name = "model.layers." + std::to_string(i);
        const std::size_t feed_forward = feed_forward_stage(layers, i);
        table.begin(ModelPart::encoder, feed_forward + 1);
        if (i > 0) table.norm(name + ".attn_norm.weight");
        table.matrix(name + ".attn.Wqkv.weight", 3 * H, H, inner);
        table.matrix(name + ".attn.Wo.weight", H, H, outer);
        table.begin(ModelPart::encoder, feed_forward);
        table.norm(name + ".mlp_norm.weight");
        table.matrix(name + ".mlp.Wi.weight", 2 * F, H, inner);
        table.matrix(name + ".mlp.Wo.weight", H, F, outer);
    }
    table.begin(ModelPart::encoder, 0);
    table.norm("model.final_norm.weight");
    table.begin(ModelPart::masked_words_head, 0);
    table.matrix("head.dense.weight", H, H, outer, /*is_in_layer=*/false);
    table.norm("head.norm.weight");
    table.decoder_bias("decoder.bias");
    return in_both_orders(std::move(table.rows), last_stage + 1);
}

}  // namespace bertpretrain
