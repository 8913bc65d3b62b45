#pragma once
// The location of one head of one sequence within the tensors of all sequences.

#include <cmath>
#include <cstdint>

#include "kernels/cpu/head_memory.h"
#include "kernels/interface/fused_types.h"

namespace bertpretrain::cpu {

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

}  // namespace bertpretrain::cpu
