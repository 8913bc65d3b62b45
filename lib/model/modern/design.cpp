#include "model/modern/design.h"

#include "core/error.h"

namespace bertpretrain::modern {

void check_heads(std::int64_t hidden_size, std::int64_t num_attention_heads) {
    if (hidden_size % num_attention_heads != 0)
        throw ConfigError(concat("model.hidden_size = ", hidden_size, ": must be a multiple of model.num_attention_heads = ",
                                 num_attention_heads, ", so that all heads have the same size"));
    if (const std::int64_t D = hidden_size / num_attention_heads; D % 2 != 0)
        throw ConfigError(concat("model.num_attention_heads = ", num_attention_heads, ": a head would have ", D,
                                 " features; rotary positions rotate pairs, so it must be an even number"));
    if (hidden_size % 8 != 0) throw ConfigError(concat("model.hidden_size = ", hidden_size, ": must be a multiple of 8"));
}

}  // namespace bertpretrain::modern
