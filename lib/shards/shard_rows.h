#pragma once
// Rows of a shard in memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bertpretrain {

/// A packed row holds several documents, each a sequence of its own with attention and positions. Its input mask has the
/// document's number at each token: 1, 2, 3 and so on; after 127 comes 1 again.
inline constexpr std::int8_t first_document = 1;
constexpr std::int8_t next_document(std::int8_t number) {
    return number == 127 ? first_document : static_cast<std::int8_t>(number + 1);
}

/// Returns the tokens of each document of a row; of a row that is not packed, its length. @param mask_T input mask of its tokens
inline std::vector<std::int64_t> document_lengths(std::span<const std::int8_t> mask_T) {
    std::vector<std::int64_t> lengths;
    for (std::size_t t = 0; t < mask_T.size(); ++t) {
        if (t == 0 || mask_T[t] != mask_T[t - 1]) lengths.push_back(0);
        ++lengths.back();
    }
    return lengths;
}

/// Samples as stored in the shard. R: rows, S: sequence length, P: maximum number of masked positions.
struct ShardRows {
    std::int64_t rows = 0, sequence_length = 0, max_predictions = 0;
    std::vector<std::int32_t> input_ids_RS;            ///< token ids; after the last token [PAD] or 0
    std::vector<std::int8_t> input_mask_RS;            ///< 1 for tokens (packed rows: documents' numbers), then 0 for padding
    std::vector<std::int8_t> segment_ids_RS;           ///< 0: first segment, 1: second
    std::vector<std::int32_t> masked_lm_positions_RP;  ///< ascending; the first 0 ends the list
    std::vector<std::int32_t> masked_lm_ids_RP;        ///< original ids at those positions
    std::vector<std::int8_t> next_sentence_labels_R;   ///< 1: the second segment is random; empty: rows without labels

    bool has_labels() const { return !next_sentence_labels_R.empty(); }
};

}  // namespace bertpretrain
