#include "batches/padded_rows.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/error.h"

namespace bertpretrain {
namespace {

template <class Value>
void copy_values(const std::vector<Value>& from, std::int64_t from_columns, std::int64_t from_row, std::vector<Value>& to,
                 std::int64_t to_columns, std::int64_t to_row) {
    const auto end = std::copy_n(from.begin() + from_row * from_columns, from_columns, to.begin() + to_row * to_columns);
    std::fill_n(end, to_columns - from_columns, Value{0});
}

}  // namespace

void copy_row(const ShardRows& from, std::int64_t from_row, ShardRows& to, std::int64_t to_row) {
    const std::int64_t S = from.sequence_length, from_P = from.max_predictions, to_P = to.max_predictions;
    check(from_row < from.rows && to_row < to.rows && to.sequence_length == S && to_P >= from_P, "row ", from_row, " of ",
          from.rows, " to row ", to_row, " of ", to.rows);
    copy_values(from.input_ids_RS, S, from_row, to.input_ids_RS, S, to_row);
    copy_values(from.input_mask_RS, S, from_row, to.input_mask_RS, S, to_row);
    copy_values(from.segment_ids_RS, S, from_row, to.segment_ids_RS, S, to_row);
    copy_values(from.masked_lm_positions_RP, from_P, from_row, to.masked_lm_positions_RP, to_P, to_row);
    copy_values(from.masked_lm_ids_RP, from_P, from_row, to.masked_lm_ids_RP, to_P, to_row);
    if (from.has_labels()) copy_values(from.next_sentence_labels_R, 1, from_row, to.next_sentence_labels_R, 1, to_row);
}

}  // namespace bertpretrain
