#pragma once
// What rows hold, counted.

#include <cstdint>
#include <optional>
#include <vector>

#include "shards/shard_reader.h"

namespace bertpretrain {

/// What a shard, or several together, hold.
struct ShardContent {
    std::int64_t rows = 0, tokens = 0, masked = 0;
    std::int64_t random_next = 0;               ///< rows whose second segment is a random one
    std::int64_t as_mask = 0;                   ///< masked positions where [MASK] stands; counted where its id is known
    std::int64_t unchanged = 0;                 ///< masked positions where the original token stands
    std::vector<std::int64_t> rows_by_length;   ///< place: the row's tokens
    std::vector<std::int64_t> rows_by_masking;  ///< place: percent of the row's tokens that are masked, rounded

    double masking_rate() const { return share(masked, tokens); }
    double mean_length() const { return share(tokens, rows); }
    double random_next_share() const { return share(random_next, rows); }
    double mask_share() const { return share(as_mask, masked); }
    double unchanged_share() const { return share(unchanged, masked); }

    /// @param rows checked rows (check_rows)
    /// @param mask_id of [MASK], where a vocabulary tells
    void add(const ShardRows& rows, std::optional<std::int32_t> mask_id);
    void add(const ShardContent& other);

private:
    static double share(std::int64_t part, std::int64_t whole) {
        return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
    }
};

/// Tokens of a row: its mask's leading ones.
std::int64_t row_length(const ShardRows& rows, std::int64_t row);
/// Masked positions of a row: those before the first 0, where [CLS] stands.
std::int64_t row_masked(const ShardRows& rows, std::int64_t row);

}  // namespace bertpretrain
