#include "shards/check/shard_statistics.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "tokens/models/unknown_tokens.h"

namespace bertpretrain {
namespace {

void count(std::vector<std::int64_t>& histogram, std::int64_t place) {
    const auto index = static_cast<std::size_t>(place);
    if (histogram.size() <= index) histogram.resize(index + 1);
    ++histogram[index];
}

void add_histogram(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

std::int64_t row_length(const ShardRows& rows, std::int64_t row) {
    const std::int8_t* mask_S = rows.input_mask_RS.data() + row * rows.sequence_length;
    return std::find(mask_S, mask_S + rows.sequence_length, std::int8_t{0}) - mask_S;
}

std::int64_t row_masked(const ShardRows& rows, std::int64_t row) {
    const std::int32_t* positions_P = rows.masked_lm_positions_RP.data() + row * rows.max_predictions;
    return std::find(positions_P, positions_P + rows.max_predictions, 0) - positions_P;
}

void ShardContent::add(const ShardRows& added, const ShardRows& unmasked, const std::optional<SpecialIds>& ids) {
    for (std::int64_t r = 0; r < added.rows; ++r) {
        const std::int64_t length = row_length(added, r), row_masks = row_masked(added, r);
        for (std::int64_t p = 0; p < row_masks; ++p) {
            const auto at = static_cast<std::size_t>(r * added.max_predictions + p);
            const std::int64_t position = added.masked_lm_positions_RP[at];
            const std::int32_t token = added.input_ids_RS[static_cast<std::size_t>(r * added.sequence_length + position)];
            as_mask += ids && token == ids->mask ? 1 : 0;
            unchanged += token == added.masked_lm_ids_RP[at] ? 1 : 0;
        }
        if (ids) {
            UnknownTokens found;
            found.add(std::span(unmasked.input_ids_RS)
                          .subspan(static_cast<std::size_t>(r * unmasked.sequence_length), static_cast<std::size_t>(length)),
                      {}, *ids);
            words += found.tokens;
            unknown += found.unknown;
        }
        ++rows;
        tokens += length;
        const auto mask_S = std::span(added.input_mask_RS).subspan(static_cast<std::size_t>(r * added.sequence_length));
        documents += std::ssize(document_lengths(mask_S.first(static_cast<std::size_t>(length))));
        masked += row_masks;
        if (added.has_labels()) {
            ++labelled;
            random_next += added.next_sentence_labels_R[static_cast<std::size_t>(r)];
        }
        count(rows_by_length, length);
        count(rows_by_masking, std::lround(100.0 * static_cast<double>(row_masks) / static_cast<double>(length)));
    }
}

void ShardContent::add(const ShardContent& other) {
    rows += other.rows;
    tokens += other.tokens;
    documents += other.documents;
    masked += other.masked;
    labelled += other.labelled;
    random_next += other.random_next;
    as_mask += other.as_mask;
    unchanged += other.unchanged;
    words += other.words;
    unknown += other.unknown;
    add_histogram(rows_by_length, other.rows_by_length);
    add_histogram(rows_by_masking, other.rows_by_masking);
}

}  // namespace bertpretrain
