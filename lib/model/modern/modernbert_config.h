#pragma once
// The settings of ModernBERT, with the names of transformers' ModernBertConfig. The defaults are those of ModernBERT-base.

#include <cstdint>
#include <string>

#include "model/modern/common_settings.h"
#include "model/modern/design.h"

namespace bertpretrain {

/// gelu is exact (erf), gelu_pytorch_tanh its tanh approximation.
enum class GateActivation { gelu, gelu_pytorch_tanh, silu };
template <>
inline constexpr auto choice_names<GateActivation> = choices("gelu", "gelu_pytorch_tanh", "silu");

struct ModernBertConfig {
    std::int64_t hidden_size = 768;
    std::int64_t num_hidden_layers = 22;
    std::int64_t num_attention_heads = 12;
    std::int64_t intermediate_size = 1152;
    std::int64_t vocab_size = 0;  ///< 0: "auto", which plan/resolve.h decides
    std::int64_t max_position_embeddings = 8192;
    GateActivation hidden_activation = GateActivation::gelu;
    double norm_eps = 1e-5;
    std::int64_t global_attn_every_n_layers = 3;
    std::int64_t local_attention = 128;
    double global_rope_theta = 160000;
    double local_rope_theta = 10000;
    double attention_dropout = 0;
    double attention_output_dropout = 0.1;
    double initializer_range = 0.02;
    double initializer_cutoff_factor = 2;

    static void describe(auto& self, auto&& field) {
        modern::describe_size(self, field);
        field("intermediate_size", self.intermediate_size, between(8, 16777216),
              "Features inside the gated feed-forward part, after the gate.");
        field("max_position_embeddings", self.max_position_embeddings, between(8, 65536),
              "Longest sequence that the model supports, in tokens.");
        field("hidden_activation", self.hidden_activation, any,
              "The activation function of the gate. gelu is exact (erf), gelu_pytorch_tanh its tanh approximation.");
        field("norm_eps", self.norm_eps, between(0, 0.01), "Constant added to the variance in LayerNorm.");
        field("global_attn_every_n_layers", self.global_attn_every_n_layers, between(1, 1024),
              "Layers 0, n, 2 n, ... attend to the whole sequence, the others to a window of local_attention tokens.");
        field("local_attention", self.local_attention, between(2, 131072),
              "Width of the window of a local layer in tokens: a token attends to local_attention / 2 tokens on each side.");
        field("global_rope_theta", self.global_rope_theta, above(0), "Base of the rotary frequencies of global layers.");
        field("local_rope_theta", self.local_rope_theta, above(0), "Base of the rotary frequencies of local layers.");
        field("attention_dropout", self.attention_dropout, between(0, 0.9),
              "Probability of dropout on the attention probabilities. ModernBERT was trained without.");
        field("attention_output_dropout", self.attention_output_dropout, between(0, 0.9),
              "Probability of dropout on the attention's output, the only dropout that ModernBERT was trained with. transformers "
              "has no such field: there attention_dropout drives both.");
        field("initializer_range", self.initializer_range, between(0, 1),
              "Standard deviation of the initial weights before they are cut; that of output layers is smaller by the root of "
              "twice the number of layers.");
        field("initializer_cutoff_factor", self.initializer_cutoff_factor, between(0.5, 100),
              "Initial weights are at most this many standard deviations from 0.");
    }
};

std::string summary_of(const ModernBertConfig& config);
/// @throws ConfigError naming settings that contradict each other
void check_settings(const ModernBertConfig& config);
modern::Design design_of(const ModernBertConfig& config);

}  // namespace bertpretrain
