#pragma once
// The dropout factors of one head's probabilities.

#include "kernels/cpu/attention_place.h"
#include "kernels/cpu/dropout_factors.h"

namespace bertpretrain::cpu {

/// Draws the factors of one row of probabilities at a time.
class KeepRows {
public:
    KeepRows(const Attention& shape, const HeadPlace& place)
        : dropout_(shape.dropout),
          sample_(static_cast<std::uint64_t>(shape.layout.samples_B[static_cast<std::size_t>(place.sequence)])),
          first_group_(static_cast<std::uint32_t>(place.head) * attention_groups_per_head),
          S_(place.S),
          keep_S_(head_memory<float>(elements(place.S))) {}

    /// Floats of head memory for rows of S probabilities.
    static constexpr std::int64_t elements(std::int64_t S) { return S + dropout_block_elements; }

    /// Returns the factors of the row, valid until the next call; null without dropout.
    const float* row(std::int64_t position) const {
        if (!dropout_.active()) return nullptr;
        fill_dropout_factors(dropout_, sample_, static_cast<std::uint32_t>(position), first_group_, S_, keep_S_.get());
        return keep_S_.get();
    }

private:
    Dropout dropout_;
    std::uint64_t sample_;
    std::uint32_t first_group_;
    std::int64_t S_;
    HeadMemory<float> keep_S_;
};

}  // namespace bertpretrain::cpu
