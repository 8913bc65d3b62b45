#include "model/bert/config.h"

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {

Activation activation_of(const BertConfig& config) {
    return config.hidden_act == HiddenAct::gelu ? Activation::gelu_erf : Activation::gelu_tanh;
}

std::string summary_of(const BertConfig& config) {
    return concat(config.num_hidden_layers, " layers, hidden size ", config.hidden_size, ", ", config.num_attention_heads,
                  " heads, feed-forward ", config.intermediate_size, ", vocabulary ", with_thousands(config.vocab_size),
                  ", up to ", config.max_position_embeddings, " tokens, ", name_of(config.norm_placement));
}

void check_settings(const BertConfig& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw ConfigError(concat("model.hidden_size = ", config.hidden_size,
                                 ": must be a multiple of model.num_attention_heads = ", config.num_attention_heads,
                                 ", so that all heads have the same size"));
    if (config.hidden_size % 8 != 0)
        throw ConfigError(concat("model.hidden_size = ", config.hidden_size, ": must be a multiple of 8"));
}

}  // namespace bertpretrain
