#pragma once
// The shape of a BERT, under the names of Hugging Face's BertConfig.

#include <cstdint>
#include <string>

#include "config/field.h"

namespace bertpretrain {

/// Where LayerNorm stands, and what the residual stream carries.
enum class NormPlacement {
    post_ln,               ///< BERT: h = LN(h + f(h))
    pre_ln,                ///< textbook: r = r + f(LN(r)), a final LN; names and arithmetic of HF's MegatronBert
    pre_ln_zero_residual,  ///< Habana's 1.5B and 5B: as pre_ln, but r starts at 0; the embedding enters through layer 0 only
};

struct BertConfig {
    std::int64_t hidden_size = 768;
    std::int64_t num_hidden_layers = 12;
    std::int64_t num_attention_heads = 12;
    std::int64_t intermediate_size = 3072;
    std::int64_t vocab_size = 30528;
    std::int64_t max_position_embeddings = 512;
    std::int64_t type_vocab_size = 2;
    std::string hidden_act = "gelu";
    double hidden_dropout_prob = 0.1;
    double attention_probs_dropout_prob = 0.1;
    double layer_norm_eps = 1e-12;
    double initializer_range = 0.02;
    std::string norm_placement = "post_ln";

    static void describe(auto& self, auto&& field) {
        field("hidden_size", self.hidden_size, between(8, 1048576),
              "Features of a token; a multiple of 8 and of num_attention_heads.");
        field("num_hidden_layers", self.num_hidden_layers, between(1, 1024), "Encoder layers.");
        field("num_attention_heads", self.num_attention_heads, between(1, 1024), "Heads of each attention.");
        field("intermediate_size", self.intermediate_size, between(8, 16777216), "Features inside the feed-forward part.");
        field("vocab_size", self.vocab_size, between(6, 16777216),
              "Rows of the word embedding; at least the vocabulary, often padded to 8s.");
        field("max_position_embeddings", self.max_position_embeddings, between(8, 65536),
              "Longest sequence that the model knows.");
        field("type_vocab_size", self.type_vocab_size, between(2, 16), "Kinds of segments.");
        field("hidden_act", self.hidden_act, one_of({"gelu", "gelu_new", "gelu_pytorch_tanh"}),
              "gelu is exact (erf); the other two are the tanh form under HF's names.");
        field("hidden_dropout_prob", self.hidden_dropout_prob, between(0, 0.9),
              "Dropout on embeddings and on every sublayer's output.");
        field("attention_probs_dropout_prob", self.attention_probs_dropout_prob, between(0, 0.9),
              "Dropout on attention probabilities.");
        field("layer_norm_eps", self.layer_norm_eps, between(0, 0.01), "Added to the variance in LayerNorm.");
        field("initializer_range", self.initializer_range, between(0, 1), "Standard deviation of new weights.");
        field("norm_placement", self.norm_placement, one_of({"post_ln", "pre_ln", "pre_ln_zero_residual"}),
              "post_ln: BERT. pre_ln: the sound choice for new large models. pre_ln_zero_residual: Habana's 1.5B and 5B.");
    }

    NormPlacement placement() const;
};

/// Refuses what no single rule can. @throws ConfigError naming the settings
void check_bert(const BertConfig& config);

/// Floating point operations of the model for a forward and backward pass: products only, the MLM head on masked positions
/// only, nothing for recomputation. Source: the usual count, 1 multiply-add = 2, backward = 2 x forward.
/// @param tokens T of the batch @param square_lengths sum of squared sequence lengths
double model_flops(const BertConfig& config, double tokens, double square_lengths, double masked, double sequences);

}  // namespace bertpretrain
