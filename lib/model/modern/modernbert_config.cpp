#include "model/modern/modernbert_config.h"

#include <cmath>
#include <stdexcept>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

Activation activation_of(GateActivation activation) {
    switch (activation) {
        case GateActivation::gelu:
            return Activation::gelu_erf;
        case GateActivation::gelu_pytorch_tanh:
            return Activation::gelu_tanh;
        case GateActivation::silu:
            return Activation::silu;
    }
    throw std::logic_error("unknown activation");
}

}  // namespace

std::string summary_of(const ModernBertConfig& config) {
    return concat("modernbert, ", config.num_hidden_layers, " layers (", design_of(config).local_layers(),
                  " of them with a window of ", config.local_attention, " tokens), hidden size ", config.hidden_size, ", ",
                  config.num_attention_heads, " heads, gated feed-forward ", config.intermediate_size, ", vocabulary ",
                  with_thousands(config.vocab_size), ", up to ", config.max_position_embeddings, " tokens");
}

void check_settings(const ModernBertConfig& config) {
    modern::check_size(config);
    if (config.local_attention % 2 != 0)
        throw ConfigError(
            concat("model.local_attention = ", config.local_attention, ": must be even, half of it on each side of a token"));
}

modern::Design design_of(const ModernBertConfig& config) {
    modern::Design design;
    design.hidden = config.hidden_size;
    design.layers = config.num_hidden_layers;
    design.heads = config.num_attention_heads;
    design.intermediate = config.intermediate_size;
    design.vocabulary = config.vocab_size;
    design.positions = config.max_position_embeddings;
    design.eps = config.norm_eps;
    design.activation = activation_of(config.hidden_activation);
    design.global_every = config.global_attn_every_n_layers;
    design.window = config.local_attention / 2;
    design.global_theta = config.global_rope_theta;
    design.local_theta = config.local_rope_theta;
    design.attention_dropout = config.attention_dropout;
    design.output_dropout = config.attention_output_dropout;
    design.initial_words = design.initial_inner = config.initializer_range;
    design.initial_outer = config.initializer_range / std::sqrt(2.0 * static_cast<double>(config.num_hidden_layers));
    design.cut_at = config.initializer_cutoff_factor;
    return design;
}

}  // namespace bertpretrain
