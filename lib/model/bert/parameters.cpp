#include "model/bert/parameters.h"

#include <string>

#include "model/layered_model.h"

namespace bertpretrain {
namespace {

/// The table's rows, in the order of transformers' state_dict.
class Table : public ParameterRows {
public:
    explicit Table(const BertConfig& config)
        : config_(config), H(config.hidden_size), pre_(config.norm_placement == NormPlacement::pre_ln) {}

    void embedding(const std::string& name, std::int64_t height, RowsMeaning meaning, const std::string& tied_name = {}) {
        ParameterSpec& spec = matrix(name, height, H);
        spec.fp32_gradient = true;
        spec.rows = meaning;
        spec.tied_name = tied_name;
    }
    void decoder_bias(const std::string& name, const std::string& tied_name) {
        ParameterSpec& spec = add(name, {config_.vocab_size}, InitialValues::zeros);
        spec.rows = RowsMeaning::per_token;
        spec.tied_name = tied_name;
    }
    void dense(const std::string& name, std::int64_t outputs, std::int64_t inputs, bool adjoins = false) {
        ParameterSpec& weight = matrix(name + ".weight", outputs, inputs);
        weight.adjoins = adjoins;
        weight.overwrites_gradient = is_in_layer_;
        add(name + ".bias", {outputs}, InitialValues::zeros).adjoins = adjoins;
    }
    void norm(const std::string& name) {
        add(name + ".weight", {H}, InitialValues::ones);
        add(name + ".bias", {H}, InitialValues::zeros);
    }
    void layer(const std::string& name, std::size_t feed_forward_stage) {
        const std::int64_t F = config_.intermediate_size;
        is_in_layer_ = true;
        begin(ModelPart::encoder, feed_forward_stage + 1);
        if (pre_) norm(name + ".attention.ln");
        dense(name + ".attention.self.query", H, H);
        dense(name + ".attention.self.key", H, H, true);
        dense(name + ".attention.self.value", H, H, true);
        dense(name + ".attention.output.dense", H, H);
        begin(ModelPart::encoder, feed_forward_stage);
        norm(name + (pre_ ? ".ln" : ".attention.output.LayerNorm"));
        dense(name + ".intermediate.dense", F, H);
        dense(name + ".output.dense", H, F);
        if (!pre_) norm(name + ".output.LayerNorm");
        is_in_layer_ = false;
    }

private:
    ParameterSpec& matrix(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
        ParameterSpec& spec = add(name, {outputs, inputs}, InitialValues::normal);
        spec.deviation = config_.initializer_range;
        return spec;
    }

    const BertConfig& config_;
    std::int64_t H;
    bool pre_, is_in_layer_ = false;
};

}  // namespace

ModelParameters parameters_of(const BertConfig& config) {
    const auto layers = static_cast<std::size_t>(config.num_hidden_layers), last_stage = 2 * layers + 1;
    const std::int64_t H = config.hidden_size;
    const bool pre = config.norm_placement == NormPlacement::pre_ln;
    const std::string word = "bert.embeddings.word_embeddings.weight", decoder = "cls.predictions.decoder";
    Table table(config);
    table.begin(ModelPart::encoder, last_stage);
    table.embedding(word, config.vocab_size, RowsMeaning::per_token, decoder + ".weight");
    table.embedding("bert.embeddings.position_embeddings.weight", config.max_position_embeddings, RowsMeaning::repeatable);
    table.embedding("bert.embeddings.token_type_embeddings.weight", config.type_vocab_size, RowsMeaning::fixed);
    if (!pre) table.norm("bert.embeddings.LayerNorm");
    for (std::size_t i = 0; i < layers; ++i)
        table.layer("bert.encoder.layer." + std::to_string(i), feed_forward_stage(layers, i));
    table.begin(ModelPart::encoder, 0);
    if (pre) table.norm("bert.encoder.ln");
    table.begin(ModelPart::pooler, 0);
    table.dense("bert.pooler.dense", H, H);
    table.begin(ModelPart::masked_words_head, 0);
    table.decoder_bias("cls.predictions.bias", decoder + ".bias");
    table.dense("cls.predictions.transform.dense", H, H);
    table.norm("cls.predictions.transform.LayerNorm");
    table.begin(ModelPart::next_sentences_head, 0);
    table.dense("cls.seq_relationship", 2, H);
    if (!config.next_sentence)  // after all rows have their numbers: one seed gives one encoder, with and without these heads
        std::erase_if(table.rows, [](const StagedParameter& row) {
            return row.spec.part == ModelPart::pooler || row.spec.part == ModelPart::next_sentences_head;
        });
    return in_both_orders(std::move(table.rows), last_stage + 1);
}

}  // namespace bertpretrain
