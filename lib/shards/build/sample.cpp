#include "shards/build/sample.h"

#include <algorithm>

#include "core/error.h"

namespace bertpretrain {

ShardRows empty_rows(std::int64_t rows, std::int64_t sequence_length, std::int64_t max_predictions, bool has_labels) {
    const auto R = static_cast<std::size_t>(rows), S = static_cast<std::size_t>(sequence_length),
               P = static_cast<std::size_t>(max_predictions);
    ShardRows blank{rows, sequence_length, max_predictions, {}, {}, {}, {}, {}, {}};
    blank.input_ids_RS.resize(R * S);
    blank.input_mask_RS.resize(R * S);
    blank.segment_ids_RS.resize(R * S);
    blank.masked_lm_positions_RP.resize(R * P);
    blank.masked_lm_ids_RP.resize(R * P);
    if (has_labels) blank.next_sentence_labels_R.resize(R);
    return blank;
}

std::span<std::int32_t> put_pair(const Documents& documents, const SentencePair& pair, const SpecialIds& special_ids,
                                 ShardRows& rows, std::int64_t row) {
    const auto begin = static_cast<std::size_t>(row * rows.sequence_length);
    const std::span<std::int32_t> tokens = std::span(rows.input_ids_RS).subspan(begin, pair.length());
    const std::span<const std::int32_t> a = documents.tokens(pair.a_begin, pair.a_size),
                                        b = documents.tokens(pair.b_begin, pair.b_size);
    auto out = tokens.begin();
    *out++ = special_ids.cls;
    out = std::copy(a.begin(), a.end(), out);
    *out++ = special_ids.sep;
    const auto first_segment = out - tokens.begin();
    out = std::copy(b.begin(), b.end(), out);
    *out = special_ids.sep;
    const auto first = static_cast<std::ptrdiff_t>(begin), length = static_cast<std::ptrdiff_t>(tokens.size());
    std::fill_n(rows.input_mask_RS.begin() + first, length, std::int8_t{1});
    std::fill_n(rows.segment_ids_RS.begin() + first + first_segment, length - first_segment, std::int8_t{1});
    rows.next_sentence_labels_R[static_cast<std::size_t>(row)] = pair.is_random_next ? 1 : 0;
    return tokens;
}

void put_masked(const MaskedTokens& masked, ShardRows& rows, std::int64_t row) {
    const auto begin = static_cast<std::ptrdiff_t>(row * rows.max_predictions);
    std::copy(masked.positions.begin(), masked.positions.end(), rows.masked_lm_positions_RP.begin() + begin);
    std::copy(masked.labels.begin(), masked.labels.end(), rows.masked_lm_ids_RP.begin() + begin);
}

ShardRows joined_rows(ShardRows a, const ShardRows& b) {
    check(a.sequence_length == b.sequence_length && a.max_predictions == b.max_predictions, "joined rows have the same shape");
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(a.input_ids_RS, b.input_ids_RS);
    append(a.input_mask_RS, b.input_mask_RS);
    append(a.segment_ids_RS, b.segment_ids_RS);
    append(a.masked_lm_positions_RP, b.masked_lm_positions_RP);
    append(a.masked_lm_ids_RP, b.masked_lm_ids_RP);
    append(a.next_sentence_labels_R, b.next_sentence_labels_R);
    a.rows += b.rows;
    return a;
}

}  // namespace bertpretrain
