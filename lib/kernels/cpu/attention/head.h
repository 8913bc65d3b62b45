#pragma once
// One head of one sequence: its place, the blocks in which it is computed, and the dropout factors of its probabilities.

#include "kernels/cpu/dropout_factors.h"
#include "kernels/cpu/head_memory.h"
#include "kernels/interface/fused_types.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace bertpretrain::cpu {

/// The location of one head of one sequence within the tensors of all sequences.
struct HeadPlace {
    std::int64_t sequence, head;
    std::int64_t S, D;       ///< positions of the sequence, features of the head
    std::int64_t hidden;     ///< H; a row of qkv has 3 H columns
    std::int64_t first_row;  ///< of the sequence
    std::int64_t column;     ///< of the head within H
    std::int64_t window;     ///< Attention::window

    HeadPlace(const Attention& shape, std::int64_t H, std::int64_t sequence_index, std::int64_t head_index)
        : sequence(sequence_index),
          head(head_index),
          S(shape.layout.length(sequence_index)),
          D(H / shape.heads),
          hidden(H),
          first_row(shape.layout.starts_B1[static_cast<std::size_t>(sequence_index)]),
          column(head_index * D),
          window(shape.window) {}

    /// The keys [first, end) that a query attends to.
    std::pair<std::int64_t, std::int64_t> keys_of(std::int64_t query) const { return keys_of(query, query + 1); }
    /// The keys that any of the queries [first, end) attends to.
    std::pair<std::int64_t, std::int64_t> keys_of(std::int64_t first, std::int64_t end) const {
        if (window == 0) return {0, S};
        return {std::max<std::int64_t>(0, first - window), std::min(S, end + window)};
    }

    float scaling() const { return 1.0F / std::sqrt(static_cast<float>(D)); }
    std::int64_t in_qkv() const { return first_row * 3 * hidden + column; }
    std::int64_t in_context() const { return first_row * hidden + column; }
    /// The place of position s among numbers of all rows and heads.
    std::int64_t in_rows_of_heads(std::int64_t s) const { return (first_row + s) * (hidden / D) + head; }
};

/// Queries [first, end) that are computed together, and the keys that any of them attends to.
struct QueryBlock {
    std::int64_t first, end, first_key, end_key;
    QueryBlock(const HeadPlace& place, std::int64_t first_query, std::int64_t most)
        : first(first_query), end(std::min(place.S, first_query + most)) {
        std::tie(first_key, end_key) = place.keys_of(first, end);
    }
    std::int64_t queries() const { return end - first; }
    std::int64_t keys() const { return end_key - first_key; }
};

/// In a window, the queries of a block: more would multiply by more keys that most of them do not attend to.
constexpr std::int64_t queries_in_window = 64;

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

    /// Returns the factors of the row from this key on, valid until the next call; null without dropout.
    const float* row(std::int64_t position, std::int64_t first_key = 0) const {
        if (!dropout_.active()) return nullptr;
        fill_dropout_factors(dropout_, sample_, static_cast<std::uint32_t>(position), first_group_, S_, keep_S_.get());
        return keep_S_.get() + first_key;
    }

private:
    Dropout dropout_;
    std::uint64_t sample_;
    std::uint32_t first_group_;
    std::int64_t S_;
    HeadMemory<float> keep_S_;
};

}  // namespace bertpretrain::cpu
