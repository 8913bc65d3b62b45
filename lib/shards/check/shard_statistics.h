#pragma once
// Counts the content of rows.

#include <cstdint>
#include <optional>
#include <vector>

#include "shards/shard_rows.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// Counts over the rows of one or more shards.
struct ShardContent {
    std::int64_t rows = 0, tokens = 0, masked = 0;
    std::int64_t documents = 0;    ///< of packed rows; another row counts as one
    std::int64_t labelled = 0;     ///< rows with a label of next sentences
    std::int64_t random_next = 0;  ///< rows whose second segment is random
    std::int64_t as_mask = 0;      ///< masked positions with [MASK]; counted only if its id is known
    std::int64_t unchanged = 0;    ///< masked positions that keep the original token
    std::int64_t words = 0;        ///< tokens of the unmasked text but [CLS], [SEP], [PAD] and [MASK], if their ids are known
    std::int64_t unknown = 0;      ///< those that are [UNK]
    std::vector<std::int64_t> rows_by_length;   ///< index: tokens in the row
    std::vector<std::int64_t> rows_by_masking;  ///< index: percent of the row's tokens that are masked, rounded

    double masking_rate() const { return share(masked, tokens); }
    double mean_length() const { return share(tokens, rows); }
    double documents_per_row() const { return share(documents, rows); }
    double unknown_share() const { return share(unknown, words); }
    double random_next_share() const { return share(random_next, labelled); }
    double mask_share() const { return share(as_mask, masked); }
    double unchanged_share() const { return share(unchanged, masked); }

    /// @param rows checked rows (check_rows)
    /// @param unmasked the same rows with their original text (restore_text)
    /// @param ids of the special tokens, if a vocabulary is known
    void add(const ShardRows& rows, const ShardRows& unmasked, const std::optional<SpecialIds>& ids);
    void add(const ShardContent& other);

private:
    static double share(std::int64_t part, std::int64_t whole) {
        return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
    }
};

/// Returns the number of tokens in a row: up to the first 0 of its input mask.
std::int64_t row_length(const ShardRows& rows, std::int64_t row);
/// Returns the number of masked positions in a row: those before the first 0, which is the position of [CLS].
std::int64_t row_masked(const ShardRows& rows, std::int64_t row);

}  // namespace bertpretrain
