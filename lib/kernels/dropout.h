#pragma once
// Counter-based dropout: the mask is a function of (seed, purpose, sample, position, layer, element). No mask is stored, and
// masks do not depend on batching or on which rank computes a sample.
//
// A row is one token of one sample. One Philox call yields eight 16-bit decisions. Within each block of 128 elements, element e
// is decided by half-word e / 16 of the call with counter {group_base + e % 16, position | site << 16, sample low, sample high};
// the next block takes the next 16 counters. Sixteen parallel calls therefore fill one vector register at a time.

#include <cstdint>

#include "core/random.h"

namespace bertpretrain {

/// One dropout layer of the model.
struct Dropout {
    PhiloxKey key{};         ///< philox_key(seed, Purpose::hidden_dropout or attention_dropout)
    std::uint32_t site = 0;  ///< below 65,536, unique among the dropout layers that share the key
    double probability = 0;  ///< that an element is dropped; 0 disables dropout

    bool active() const { return probability > 0; }
    /// An element is dropped if its 16 random bits are below this value.
    std::uint32_t threshold() const { return static_cast<std::uint32_t>(probability * 65536.0 + 0.5); }
    /// Scale of kept elements: 1 / (1 - p), with p rounded to the multiple of 1/65,536 that `threshold` implements.
    float scale() const { return active() ? static_cast<float>(65536.0 / (65536.0 - threshold())) : 1.0F; }
};

/// Elements per block of 128, and the number of Philox calls per block.
constexpr std::int64_t dropout_block_elements = 128, dropout_block_groups = 16;

/// Distance between the group bases of attention heads; a row of probabilities can have up to 8 x 8,192 columns.
constexpr std::uint32_t attention_groups_per_head = 8192;

}  // namespace bertpretrain
