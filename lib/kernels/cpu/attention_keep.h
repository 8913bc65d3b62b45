#pragma once
// The dropout factors of one head's probabilities.

#include "kernels/cpu/dropout_factors.h"
#include "kernels/cpu/head_memory.h"
#include "kernels/interface/fused_types.h"

#include <cmath>
#include <cstdint>

namespace bertpretrain::cpu {

/// The location of one head of one sequence within the tensors of all sequences.
struct HeadPlace {
    std::int64_t sequence, head;
    std::int64_t S, D;       ///< positions of the sequence, features of the head
    std::int64_t hidden;     ///< H; a row of qkv has 3 H columns
    std::int64_t first_row;  ///< of the sequence
    std::int64_t column;     ///< of the head within H

    HeadPlace(const Attention& shape, std::int64_t H, std::int64_t sequence_index, std::int64_t head_index)
        : sequence(sequence_index),
          head(head_index),
          S(shape.layout.length(sequence_index)),
          D(H / shape.heads),
          hidden(H),
          first_row(shape.layout.starts_B1[static_cast<std::size_t>(sequence_index)]),
          column(head_index * D) {}

    float scaling() const { return 1.0F / std::sqrt(static_cast<float>(D)); }
    std::int64_t in_qkv() const { return first_row * 3 * hidden + column; }
    std::int64_t in_context() const { return first_row * hidden + column; }
    /// The place of position s among numbers of all rows and heads.
    std::int64_t in_rows_of_heads(std::int64_t s) const { return (first_row + s) * (hidden / D) + head; }
};

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
