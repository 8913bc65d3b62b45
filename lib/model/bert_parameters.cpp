#include "model/bert_parameters.h"

#include <algorithm>

namespace bertpretrain {
namespace {

struct Staged {
    ParameterSpec spec;
    std::size_t stage;
};

/// Collects parameters in the order of HF's state_dict.
class Collector {
public:
    explicit Collector(const BertConfig& config)
        : H(config.hidden_size), F(config.intermediate_size), pre_(config.norm_placement == NormPlacement::pre_ln) {}

    void at_stage(std::size_t stage) { stage_ = stage; }
    void matrix(const std::string& name, std::int64_t rows, std::int64_t columns, bool adjoins = false) {
        all.push_back({{name, {rows, columns}, true, adjoins}, stage_});
    }
    void table(const std::string& name, std::int64_t rows) { all.push_back({{name, {rows, H}, true, false, true}, stage_}); }
    void vector(const std::string& name, std::int64_t elements, bool adjoins = false) {
        all.push_back({{name, {elements}, false, adjoins, true}, stage_});
    }
    void dense(const std::string& name, std::int64_t outputs, std::int64_t inputs, bool adjoins = false) {
        matrix(name + ".weight", outputs, inputs, adjoins);
        vector(name + ".bias", outputs, adjoins);
    }
    void norm(const std::string& name) {
        vector(name + ".weight", H);
        vector(name + ".bias", H);
    }
    /// @param backward_stage of the layer's feed-forward part; its attention is the next stage
    void layer(const std::string& name, std::size_t backward_stage) {
        const std::size_t first = all.size();
        at_stage(backward_stage + 1);
        if (pre_) norm(name + ".attention.ln");
        dense(name + ".attention.self.query", H, H);
        dense(name + ".attention.self.key", H, H, true);
        dense(name + ".attention.self.value", H, H, true);
        dense(name + ".attention.output.dense", H, H);
        at_stage(backward_stage);
        norm(name + (pre_ ? ".ln" : ".attention.output.LayerNorm"));
        dense(name + ".intermediate.dense", F, H);
        dense(name + ".output.dense", H, F);
        if (!pre_) norm(name + ".output.LayerNorm");
        for (std::size_t i = first; i < all.size(); ++i) all[i].spec.overwrites_gradient = all[i].spec.decays;
    }

    std::vector<Staged> all;

private:
    std::int64_t H, F;
    bool pre_;
    std::size_t stage_ = 0;
};

}  // namespace

BertParameters bert_parameters(const BertConfig& config) {
    const auto layers = static_cast<std::size_t>(config.num_hidden_layers);
    const std::int64_t H = config.hidden_size;
    const bool pre = config.norm_placement == NormPlacement::pre_ln;
    Collector collect(config);
    const std::size_t last_stage = 2 * layers + 1;
    collect.at_stage(last_stage);
    collect.table("bert.embeddings.word_embeddings.weight", config.vocab_size);
    collect.table("bert.embeddings.position_embeddings.weight", config.max_position_embeddings);
    collect.table("bert.embeddings.token_type_embeddings.weight", config.type_vocab_size);
    if (!pre) collect.norm("bert.embeddings.LayerNorm");
    for (std::size_t i = 0; i < layers; ++i)
        collect.layer("bert.encoder.layer." + std::to_string(i), feed_forward_stage(layers, i));
    collect.at_stage(0);
    if (pre) collect.norm("bert.encoder.ln");
    if (config.next_sentence) collect.dense("bert.pooler.dense", H, H);
    collect.vector("cls.predictions.bias", config.vocab_size);
    collect.dense("cls.predictions.transform.dense", H, H);
    collect.norm("cls.predictions.transform.LayerNorm");
    if (config.next_sentence) collect.dense("cls.seq_relationship", 2, H);

    BertParameters parameters;
    for (const Staged& staged : collect.all) parameters.checkpoint_order.push_back(staged.spec);
    std::stable_sort(collect.all.begin(), collect.all.end(), [](const Staged& a, const Staged& b) {
        return std::pair(!a.spec.decays, a.stage) < std::pair(!b.spec.decays, b.stage);
    });
    for (const Staged& staged : collect.all) parameters.layout_order.push_back(staged.spec);
    for (std::size_t stage = 0; stage <= last_stage; ++stage) {
        const auto final_yet = [&](const Staged& staged) { return staged.spec.decays && staged.stage <= stage; };
        parameters.stage_ends.push_back(
            static_cast<std::size_t>(std::count_if(collect.all.begin(), collect.all.end(), final_yet)));
    }
    parameters.stage_ends.back() = collect.all.size();
    return parameters;
}

ParameterLayout bert_layout(const BertConfig& config, double bucket_mib, std::int64_t shards) {
    const auto bucket_elements = static_cast<std::int64_t>(bucket_mib * 1024 * 1024 / 4);
    return {bert_parameters(config).layout_order, std::max<std::int64_t>(1, bucket_elements), shards};
}

bool has_row_per_token(const std::string& name) {
    return name == "bert.embeddings.word_embeddings.weight" || name == "cls.predictions.bias";
}

bool is_next_sentence_parameter(const std::string& name) {
    return name.starts_with("bert.pooler.") || name.starts_with("cls.seq_relationship.");
}

std::vector<std::pair<std::string, std::string>> tied_names() {
    return {{"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
            {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
}

}  // namespace bertpretrain
