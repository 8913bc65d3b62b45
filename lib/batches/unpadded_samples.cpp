#include "batches/unpadded_samples.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "core/error.h"

namespace bertpretrain {
namespace {

template <class Value>
std::span<const Value> row_of(const std::vector<Value>& values, std::int64_t row, std::int64_t columns) {
    return std::span(values).subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
}

/// Returns a row's masked positions: those before the first 0, where [CLS] stands.
MaskedTokens masked_of(const ShardRows& rows, std::int64_t row, std::size_t length) {
    const auto positions_P = row_of(rows.masked_lm_positions_RP, row, rows.max_predictions),
               labels_P = row_of(rows.masked_lm_ids_RP, row, rows.max_predictions);
    const auto end = std::find(positions_P.begin(), positions_P.end(), 0);
    for (auto position = positions_P.begin(); position != end; ++position)
        check(*position > 0 && static_cast<std::size_t>(*position) < length, "masked position ", *position, " of a row with ",
              length, " tokens");
    return {{positions_P.begin(), end}, {labels_P.begin(), labels_P.begin() + (end - positions_P.begin())}};
}

/// Returns the lengths of a row's documents. A masked position may show any token, so its label counts there.
std::vector<std::int64_t> spans_of(std::span<const std::int32_t> ids, const MaskedTokens& masked, std::int32_t document_end) {
    std::vector<std::int64_t> lengths;
    std::size_t begin = 0, p = 0;
    for (std::size_t s = 0; s < ids.size(); ++s) {
        const bool is_masked = p < masked.positions.size() && static_cast<std::size_t>(masked.positions[p]) == s;
        const std::int32_t id = is_masked ? masked.labels[p++] : ids[s];
        if (id != document_end && s + 1 < ids.size()) continue;
        lengths.push_back(static_cast<std::int64_t>(s + 1 - begin));
        begin = s + 1;
    }
    return lengths;
}

}  // namespace

UnpaddedSamples unpadded_sample(const ShardRows& rows, std::int64_t row, std::int64_t number, const DynamicMasking* masking,
                                std::optional<std::int32_t> document_end) {
    check(row >= 0 && row < rows.rows, "row ", row, " of ", rows.rows);
    const auto mask_S = row_of(rows.input_mask_RS, row, rows.sequence_length);
    const auto length = static_cast<std::size_t>(std::find(mask_S.begin(), mask_S.end(), std::int8_t{0}) - mask_S.begin());
    const auto ids_S = row_of(rows.input_ids_RS, row, rows.sequence_length).first(length);
    const auto types_S = row_of(rows.segment_ids_RS, row, rows.sequence_length).first(length);
    MaskedTokens masked = masked_of(rows, row, length);
    std::vector<std::int32_t> ids(ids_S.begin(), ids_S.end());
    if (masking != nullptr) {
        for (std::size_t p = 0; p < masked.positions.size(); ++p)
            ids[static_cast<std::size_t>(masked.positions[p])] = masked.labels[p];
        masked = mask_again(ids, number, *masking);
    }
    UnpaddedSamples sample;
    sample.lengths_B = {static_cast<std::int64_t>(length)};
    sample.numbers_B = {number};
    sample.input_ids_T.assign(ids.begin(), ids.end());
    sample.token_type_ids_T.assign(types_S.begin(), types_S.end());
    sample.masked_rows_M.assign(masked.positions.begin(), masked.positions.end());
    sample.masked_labels_M.assign(masked.labels.begin(), masked.labels.end());
    if (rows.has_labels()) sample.next_sentence_labels_B = {rows.next_sentence_labels_R[static_cast<std::size_t>(row)]};
    std::vector<std::int64_t> documents = document_lengths(mask_S.first(length));
    sample.is_packed = documents.size() > 1;
    if (sample.is_packed) sample.attention_lengths_A = std::move(documents);
    else if (document_end) sample.attention_lengths_A = spans_of(ids, masked, *document_end);
    return sample;
}

}  // namespace bertpretrain
