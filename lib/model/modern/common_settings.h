#pragma once
// The settings that ModernBERT and NeoBERT share, with one meaning.

#include "config/field.h"
#include "core/error.h"

namespace bertpretrain::modern {

/// Lists the settings of `self` that both models have.
void describe_size(auto& self, auto&& field) {
    field("hidden_size", self.hidden_size, between(8, 1048576),
          "Features per token; a multiple of 8 and of num_attention_heads.");
    field("num_hidden_layers", self.num_hidden_layers, between(1, 1024), "Number of encoder layers.");
    field("num_attention_heads", self.num_attention_heads, between(1, 1024),
          "Attention heads per layer; each has an even number of features.");
    field("vocab_size", self.vocab_size, or_auto(between(6, 16777216)),
          "Rows of the word embedding table; at least the size of the vocabulary. auto: that of the shards' vocabulary, "
          "rounded up to a multiple of 8.");
}

/// @throws ConfigError if hidden_size cannot be divided into heads of rotary pairs
void check_size(const auto& config) {
    if (config.hidden_size % config.num_attention_heads != 0)
        throw ConfigError(concat("model.hidden_size = ", config.hidden_size,
                                 ": must be a multiple of model.num_attention_heads = ", config.num_attention_heads,
                                 ", so that all heads have the same size"));
    if (const std::int64_t D = config.hidden_size / config.num_attention_heads; D % 2 != 0)
        throw ConfigError(concat("model.num_attention_heads = ", config.num_attention_heads, ": a head would have ", D,
                                 " features; rotary positions rotate pairs, so it must be an even number"));
    if (config.hidden_size % 8 != 0)
        throw ConfigError(concat("model.hidden_size = ", config.hidden_size, ": must be a multiple of 8"));
}

}  // namespace bertpretrain::modern
