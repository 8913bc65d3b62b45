#include "shards/check/row_check.h"

#include "core/error.h"

namespace bertpretrain {
namespace {

/// The row that error messages refer to.
struct Place {
    const std::string& where;
    std::int64_t row;

    template <class... Expected>
    [[noreturn]] void refuse(const char* dataset, std::int64_t column, std::int64_t found, const Expected&... expected) const {
        throw DataError(concat(where, ": ", dataset, "[", row, ", ", column, "] is ", found, ", expected ", expected...));
    }
};

/// @param may_be_packed whether the row may hold several documents
/// @returns the number of tokens
std::int64_t check_mask(const std::int8_t* mask_S, std::int64_t columns, bool may_be_packed, const Place& place) {
    if (mask_S[0] != first_document) place.refuse("input_mask", 0, mask_S[0], "1, because a row must have at least one token");
    std::int64_t length = 1;
    for (std::int8_t number = first_document; length < columns && mask_S[length] != 0; ++length) {
        if (mask_S[length] == number) continue;
        if (!may_be_packed)
            place.refuse("input_mask", length, mask_S[length],
                         "0 or 1, because a row with a label of next sentences is one sequence");
        if (mask_S[length] != next_document(number))
            place.refuse("input_mask", length, mask_S[length], "0, ", int{number}, ", or ", int{next_document(number)},
                         " for the next document of a packed row");
        number = mask_S[length];
    }
    for (std::int64_t s = length; s < columns; ++s)
        if (mask_S[s] != 0)
            place.refuse("input_mask", s, mask_S[s], "0: all columns after the first 0 (column ", length, ") must be 0");
    return length;
}

void check_ids(const char* dataset, const std::int32_t* ids, std::int64_t columns, std::int32_t vocabulary_size,
               const Place& place) {
    for (std::int64_t c = 0; c < columns; ++c)
        if (ids[c] < 0 || ids[c] >= vocabulary_size)
            place.refuse(dataset, c, ids[c], "an id from 0 to ", vocabulary_size - 1, " (the vocabulary's last id)");
}

void check_positions(const std::int32_t* positions_P, std::int64_t columns, std::int64_t length, const Place& place) {
    std::int64_t count = 0;
    while (count < columns && positions_P[count] != 0) ++count;
    for (std::int64_t p = 0; p < count; ++p) {
        const std::int32_t before = p == 0 ? 0 : positions_P[p - 1];
        if (positions_P[p] <= before || positions_P[p] >= length)
            place.refuse("masked_lm_positions", p, positions_P[p], "more than ", before, " and less than ", length,
                         " (positions must ascend and be within the row's tokens)");
    }
    for (std::int64_t p = count; p < columns; ++p)
        if (positions_P[p] != 0)
            place.refuse("masked_lm_positions", p, positions_P[p], "0, because the list ended at column ", count);
}

}  // namespace

void check_rows(const ShardRows& rows, std::int32_t vocabulary_size, const std::string& where, std::int64_t first_row) {
    const std::int64_t S = rows.sequence_length, P = rows.max_predictions;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const Place place{where, first_row + r};
        const std::int64_t length = check_mask(rows.input_mask_RS.data() + r * S, S, !rows.has_labels(), place);
        check_ids("input_ids", rows.input_ids_RS.data() + r * S, S, vocabulary_size, place);
        const std::int8_t* segments_S = rows.segment_ids_RS.data() + r * S;
        for (std::int64_t s = 0; s < S; ++s)
            if (segments_S[s] != 0 && segments_S[s] != 1) place.refuse("segment_ids", s, segments_S[s], "0 or 1");
        check_positions(rows.masked_lm_positions_RP.data() + r * P, P, length, place);
        check_ids("masked_lm_ids", rows.masked_lm_ids_RP.data() + r * P, P, vocabulary_size, place);
        if (!rows.has_labels()) continue;
        const std::int8_t label = rows.next_sentence_labels_R[static_cast<std::size_t>(r)];
        if (label != 0 && label != 1) place.refuse("next_sentence_labels", 0, label, "0 (the next sentence) or 1 (a random one)");
    }
}

}  // namespace bertpretrain
