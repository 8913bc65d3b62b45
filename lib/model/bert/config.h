#pragma once
// The settings of BERT, with the names of Hugging Face's BertConfig.

#include <cstdint>
#include <string>

#include "config/field.h"
#include "kernels/interface/fused_types.h"

namespace bertpretrain {

/// Where LayerNorm is placed, and what the residual stream carries.
enum class NormPlacement {
    post_ln,               ///< BERT: h = LN(h + f(h))
    pre_ln,                ///< r = r + f(LN(r)) and a final LN, as in HF's MegatronBert, whose parameter names it uses
    pre_ln_zero_residual,  ///< Habana's 1.5B and 5B: as pre_ln, but r starts at 0; the embedding enters only through layer 0
};

template <>
inline constexpr auto choice_names<NormPlacement> = choices("post_ln", "pre_ln", "pre_ln_zero_residual");

/// gelu is exact (erf); the other two are transformers' names for its tanh approximation.
enum class HiddenAct { gelu, gelu_new, gelu_pytorch_tanh };
template <>
inline constexpr auto choice_names<HiddenAct> = choices("gelu", "gelu_new", "gelu_pytorch_tanh");

struct BertConfig {
    std::int64_t hidden_size = 768;
    std::int64_t num_hidden_layers = 12;
    std::int64_t num_attention_heads = 12;
    std::int64_t intermediate_size = 3072;
    std::int64_t vocab_size = 0;  ///< 0: "auto", which plan/resolve.h decides
    std::int64_t max_position_embeddings = 512;
    std::int64_t type_vocab_size = 2;
    HiddenAct hidden_act = HiddenAct::gelu;
    double hidden_dropout_prob = 0.1;
    double attention_probs_dropout_prob = 0.1;
    double layer_norm_eps = 1e-12;
    double initializer_range = 0.02;
    NormPlacement norm_placement = NormPlacement::post_ln;
    /// Whether the model has a pooler and a head for next sentences. No setting of this section: it follows from data.objective.
    bool next_sentence = true;

    static void describe(auto& self, auto&& field) {
        field("hidden_size", self.hidden_size, between(8, 1048576),
              "Features per token; a multiple of 8 and of num_attention_heads.");
        field("num_hidden_layers", self.num_hidden_layers, between(1, 1024), "Number of encoder layers.");
        field("num_attention_heads", self.num_attention_heads, between(1, 1024), "Attention heads per layer.");
        field("intermediate_size", self.intermediate_size, between(8, 16777216), "Features inside the feed-forward part.");
        field("vocab_size", self.vocab_size, or_auto(between(6, 16777216)),
              "Rows of the word embedding table; at least the size of the vocabulary. auto: that of the shards' vocabulary, "
              "rounded "
              "up to a multiple of 8.");
        field("max_position_embeddings", self.max_position_embeddings, between(8, 65536),
              "Longest sequence that the model supports, in tokens.");
        field("type_vocab_size", self.type_vocab_size, between(2, 16), "Number of segment types.");
        field("hidden_act", self.hidden_act, any,
              "The activation function. gelu is exact (erf); the other two are HF's names for its tanh approximation.");
        field("hidden_dropout_prob", self.hidden_dropout_prob, between(0, 0.9),
              "Probability of dropout on the embeddings and on the output of every sublayer.");
        field("attention_probs_dropout_prob", self.attention_probs_dropout_prob, between(0, 0.9),
              "Probability of dropout on the attention probabilities.");
        field("layer_norm_eps", self.layer_norm_eps, between(0, 0.01), "Constant added to the variance in LayerNorm.");
        field("initializer_range", self.initializer_range, between(0, 1), "Standard deviation of the initial weights.");
        field("norm_placement", self.norm_placement, any,
              "Where LayerNorm is placed. post_ln is BERT. pre_ln is recommended for new large models. pre_ln_zero_residual is "
              "that of Habana's 1.5B and 5B models.");
    }
};

Activation activation_of(const BertConfig& config);

std::string summary_of(const BertConfig& config);

/// @throws ConfigError naming settings that contradict each other
void check_settings(const BertConfig& config);

}  // namespace bertpretrain
