#pragma once
// Generated rows and documents for tests.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "shards/build/sample_group.h"
#include "shards/build/shard_writer.h"
#include "shards/dynamic_masking.h"

namespace bertpretrain::testing {

inline constexpr SpecialIds special_ids{0, 1, 2, 3, 4};
inline constexpr std::int32_t vocabulary_size = 1000;

using Sentences = std::vector<std::vector<std::int32_t>>;

/// Documents numbered from 0, each a list of sentences.
inline Documents documents_of(const std::vector<Sentences>& lists) {
    Documents documents;
    for (std::size_t d = 0; d < lists.size(); ++d) {
        documents.begin_document(static_cast<std::uint32_t>(d));
        for (const auto& sentence : lists[d]) documents.add_sentence(sentence);
    }
    return documents;
}

/// Returns documents of 1 to 12 sentences of 1 to 30 tokens, none of them special.
inline std::vector<Sentences> made_up_documents(std::size_t count, std::uint64_t seed) {
    RandomSequence random(seed, Purpose::document_order, 99);
    std::vector<Sentences> documents(count);
    for (Sentences& document : documents) {
        document.resize(1 + random.below(12));
        for (auto& sentence : document) {
            sentence.resize(1 + random.below(30));
            for (std::int32_t& token : sentence) token = static_cast<std::int32_t>(5 + random.below(vocabulary_size - 5));
        }
    }
    return documents;
}

inline SampleRules made_up_rules(std::int64_t sequence_length = 64, std::int64_t max_predictions = 10) {
    return {{sequence_length, 0.1}, {0.15, max_predictions}, special_ids, vocabulary_size, 7, 3};
}

/// Rules of rows for masked words alone.
inline SampleRules packing_rules(bool across_documents, std::int64_t sequence_length = 64) {
    SampleRules rules = made_up_rules(sequence_length);
    rules.packs = PackSettings{sequence_length, across_documents};
    return rules;
}
inline SampleRules best_fit_rules(std::int64_t sequence_length = 64) {
    SampleRules rules = made_up_rules(sequence_length);
    rules.packs = PackSettings{sequence_length, false, /*best_fit=*/true};
    return rules;
}

/// Returns `count` valid rows.
inline ShardRows made_up_rows(std::int64_t count, std::int64_t sequence_length = 64, std::int64_t max_predictions = 10) {
    const SampleRules rules = made_up_rules(sequence_length, max_predictions);
    return SampleGroup(documents_of(made_up_documents(static_cast<std::size_t>(count), 3)), rules, 0, 1).rows(0, count);
}

/// Returns rows [first, first + count) of `rows`.
inline ShardRows slice(const ShardRows& rows, std::int64_t first, std::int64_t count) {
    const auto cut = [&](const auto& values, std::int64_t columns) {
        return std::remove_cvref_t<decltype(values)>(values.begin() + first * columns,
                                                     values.begin() + (first + count) * columns);
    };
    const std::int64_t S = rows.sequence_length, P = rows.max_predictions;
    return {count,
            S,
            P,
            cut(rows.input_ids_RS, S),
            cut(rows.input_mask_RS, S),
            cut(rows.segment_ids_RS, S),
            cut(rows.masked_lm_positions_RP, P),
            cut(rows.masked_lm_ids_RP, P),
            rows.has_labels() ? cut(rows.next_sentence_labels_R, 1) : std::vector<std::int8_t>{}};
}

/// Returns the rows with new masks in lists of rules.masking.max_predictions, but at most sequence_length.
/// @param numbers_R the rows' sample numbers
inline ShardRows mask_again(ShardRows rows, const std::vector<std::int64_t>& numbers_R, const DynamicMasking& rules) {
    restore_text(rows);
    const auto R = static_cast<std::size_t>(rows.rows), S = static_cast<std::size_t>(rows.sequence_length);
    rows.max_predictions = std::min(rules.masking.max_predictions, rows.sequence_length);
    rows.masked_lm_positions_RP.assign(R * static_cast<std::size_t>(rows.max_predictions), 0);
    rows.masked_lm_ids_RP = rows.masked_lm_positions_RP;
    for (std::size_t r = 0; r < R; ++r) {
        const auto mask = rows.input_mask_RS.begin() + static_cast<std::ptrdiff_t>(r * S);
        const auto length = static_cast<std::size_t>(std::count(mask, mask + rows.sequence_length, 1));
        const auto tokens = std::span(rows.input_ids_RS).subspan(r * S, length);
        put_masked(bertpretrain::mask_again(tokens, numbers_R[r], rules), rows, static_cast<std::int64_t>(r));
    }
    return rows;
}

inline void write_rows(const std::filesystem::path& file, const ShardRows& rows, std::size_t threads = 1) {
    write_shard(
        file, {rows.rows, rows.sequence_length, rows.max_predictions, rows.has_labels()},
        [&](std::int64_t first, std::int64_t count) { return slice(rows, first, count); }, threads);
}

inline bool same_rows(const ShardRows& a, const ShardRows& b) {
    return a.rows == b.rows && a.sequence_length == b.sequence_length && a.max_predictions == b.max_predictions &&
           a.input_ids_RS == b.input_ids_RS && a.input_mask_RS == b.input_mask_RS && a.segment_ids_RS == b.segment_ids_RS &&
           a.masked_lm_positions_RP == b.masked_lm_positions_RP && a.masked_lm_ids_RP == b.masked_lm_ids_RP &&
           a.next_sentence_labels_R == b.next_sentence_labels_R;
}

}  // namespace bertpretrain::testing
