#include "model/bert_config.h"

#include "core/error.h"

namespace bertpretrain {

void check_bert(const BertConfig& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw ConfigError(concat("model.hidden_size = ", config.hidden_size,
                                 ": must be a multiple of model.num_attention_heads = ", config.num_attention_heads,
                                 ", so that all heads have the same size"));
    if (config.hidden_size % 8 != 0)
        throw ConfigError(concat("model.hidden_size = ", config.hidden_size, ": must be a multiple of 8"));
}

double model_flops(const BertConfig& config, double tokens, double square_lengths, double masked, double sequences) {
    const auto h = static_cast<double>(config.hidden_size), f = static_cast<double>(config.intermediate_size);
    const auto layers = static_cast<double>(config.num_hidden_layers), v = static_cast<double>(config.vocab_size);
    const double next_sentences = config.next_sentence ? 6 * sequences * (h * h + 2 * h) : 0;
    return 6 * layers * (4 * h * h + 2 * h * f) * tokens + 12 * layers * h * square_lengths + 6 * masked * (h * h + h * v) +
           next_sentences;
}

}  // namespace bertpretrain
