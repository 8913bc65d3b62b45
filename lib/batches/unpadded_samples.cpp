#include "batches/unpadded_samples.h"

#include <cstddef>
#include <utility>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Tokens of a row: its mask's leading ones.
std::int64_t length_of(const ShardRows& rows, std::int64_t row) {
    const std::int8_t* mask_S = rows.input_mask_RS.data() + row * rows.sequence_length;
    std::int64_t length = 0;
    while (length < rows.sequence_length && mask_S[length] == 1) ++length;
    return length;
}

/// Appends a row's masked positions: those before the first 0, where [CLS] stands. @param start of the row in T
void append_masked(const ShardRows& rows, std::int64_t row, std::int64_t start, std::int64_t length, UnpaddedSamples& samples) {
    const std::int32_t* positions_P = rows.masked_lm_positions_RP.data() + row * rows.max_predictions;
    const std::int32_t* labels_P = rows.masked_lm_ids_RP.data() + row * rows.max_predictions;
    for (std::int64_t p = 0; p < rows.max_predictions && positions_P[p] != 0; ++p) {
        const std::int64_t position = positions_P[p];
        check(position > 0 && position < length, "masked position ", position, " of a row with ", length, " tokens");
        samples.masked_rows_M.push_back(start + position);
        samples.masked_labels_M.push_back(labels_P[p]);
    }
}

/// Appends the lengths of a row's documents. A masked position may show any token, so the original one counts there.
void append_spans(const ShardRows& rows, std::int64_t row, std::int64_t length, std::int32_t document_end,
                  std::vector<std::int64_t>& lengths_A) {
    const std::int32_t* ids_S = rows.input_ids_RS.data() + row * rows.sequence_length;
    const auto positions =
        std::span(rows.masked_lm_positions_RP)
            .subspan(static_cast<std::size_t>(row * rows.max_predictions), static_cast<std::size_t>(rows.max_predictions));
    auto masked = positions.begin();
    std::int64_t begin = 0;
    for (std::int64_t s = 0; s < length; ++s) {
        while (masked != positions.end() && *masked != 0 && *masked < s) ++masked;
        const bool is_masked = masked != positions.end() && *masked != 0 && *masked == s;
        if ((is_masked || ids_S[s] != document_end) && s + 1 < length) continue;
        lengths_A.push_back(s + 1 - begin);
        begin = s + 1;
    }
}

}  // namespace

UnpaddedSamples unpadded_samples(const ShardRows& rows, std::span<const std::int64_t> selected_B,
                                 std::vector<std::int64_t> numbers_B, std::optional<std::int32_t> document_end) {
    check(selected_B.size() == numbers_B.size(), selected_B.size(), " rows with ", numbers_B.size(), " numbers");
    UnpaddedSamples samples;
    samples.numbers_B = std::move(numbers_B);
    const std::size_t most_tokens = selected_B.size() * static_cast<std::size_t>(rows.sequence_length),
                      most_masked = selected_B.size() * static_cast<std::size_t>(rows.max_predictions);
    samples.input_ids_T.reserve(most_tokens);
    samples.token_type_ids_T.reserve(most_tokens);
    samples.masked_rows_M.reserve(most_masked);
    samples.masked_labels_M.reserve(most_masked);
    for (const std::int64_t row : selected_B) {
        check(row >= 0 && row < rows.rows, "row ", row, " of ", rows.rows);
        const std::int64_t length = length_of(rows, row), first = row * rows.sequence_length;
        append_masked(rows, row, static_cast<std::int64_t>(samples.input_ids_T.size()), length, samples);
        const auto append = [&](const auto& values_RS, std::vector<std::int64_t>& to_T) {
            to_T.insert(to_T.end(), values_RS.begin() + first, values_RS.begin() + first + length);
        };
        append(rows.input_ids_RS, samples.input_ids_T);
        append(rows.segment_ids_RS, samples.token_type_ids_T);
        samples.lengths_B.push_back(length);
        if (document_end) append_spans(rows, row, length, *document_end, samples.attention_lengths_A);
        if (rows.has_labels())
            samples.next_sentence_labels_B.push_back(rows.next_sentence_labels_R[static_cast<std::size_t>(row)]);
    }
    return samples;
}

}  // namespace bertpretrain
