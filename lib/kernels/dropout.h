#pragma once
// Dropout whose mask is a function of (seed, purpose, sample, position, layer, element): nothing is stored, nothing depends
// on how samples are batched or which rank computes them.
//
// A row is one token of one sample. Philox gives eight 16-bit decisions a call. Of every 128 elements, element e is decided by
// half-word e / 16 of the call with counter {group_base + e % 16, position | site << 16, sample low, sample high}; the next
// 128 take the next 16 counters. So sixteen calls side by side fill a vector register at a time.

#include <cstdint>

#include "core/random.h"

namespace bertpretrain {

/// One place in the model where dropout acts.
struct Dropout {
    PhiloxKey key{};         ///< philox_key(seed, Purpose::hidden_dropout or attention_dropout)
    std::uint32_t site = 0;  ///< below 65,536, distinct for every place that shares the key
    double probability = 0;  ///< of an element to be dropped; 0 turns it off

    bool active() const { return probability > 0; }
    /// An element is dropped when its 16 bits are below this.
    std::uint32_t threshold() const { return static_cast<std::uint32_t>(probability * 65536.0 + 0.5); }
    /// What kept elements are multiplied with: the inverse of the exact probability that `threshold` gives.
    float scale() const { return active() ? static_cast<float>(65536.0 / (65536.0 - threshold())) : 1.0F; }
};

/// Elements that share sixteen calls, and calls that they share.
constexpr std::int64_t dropout_block_elements = 128, dropout_block_groups = 16;

/// Heads of attention take group bases this far apart, so a row of probabilities may have 8 x 8,192 columns.
constexpr std::uint32_t attention_groups_per_head = 8192;

}  // namespace bertpretrain
