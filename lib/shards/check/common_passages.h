#pragma once
// Finds text that is both held out and trained on, and text of documents that occur more than once, by passages: runs of 13
// consecutive tokens of a segment, the length that Brown et al. 2020 (GPT-3) compare test sets and training text by.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shards/manifest.h"
#include "shards/shard_rows.h"

namespace bertpretrain {

/// Counts of sampled rows. A row without a passage (all its segments are shorter) is not counted.
struct CommonPassages {
    std::int64_t held_out_rows = 0;    ///< sampled held-out rows
    std::int64_t with_a_trained = 0;   ///< of these: with at least one passage that a training row contains too
    std::int64_t mostly_trained = 0;   ///< of these: with more than half of their passages in training rows
    std::int64_t rows = 0;             ///< sampled rows, training and held-out
    std::int64_t mostly_repeated = 0;  ///< of these: more than half of their passages occur more often than once per pass
};

/// A sample of rows, and how often each of their passages occurs in all rows. Takes up to 136 MiB, and constant time per token.
class PassageSample {
public:
    static constexpr std::size_t passage_tokens = 13;
    /// Passages of each kind of rows that are sampled, approximately.
    static constexpr std::int64_t wanted_passages = std::int64_t{1} << 21;

    /// Adds rows to the sample. Not thread-safe.
    /// @param rows checked rows (check_rows) with their original text (restore_text)
    void add(ShardKind kind, const ShardRows& rows);
    /// Call it after the last add() and before the first count().
    void seal();
    /// Counts the sample's passages in rows of the folder; each row must be counted once. Thread-safe.
    /// @param rows as for add()
    void count(ShardKind kind, const ShardRows& rows);
    /// @param passes over each document (the duplicate factor); nullopt: repeated documents are not looked for
    CommonPassages result(std::optional<std::int64_t> passes) const;

private:
    struct Row {
        ShardKind kind;
        std::size_t begin, own_end, end;  // in passages_; those up to own_end are of the row's own document
    };
    std::size_t slot_of(std::uint64_t passage) const;

    std::vector<Row> rows_;
    std::vector<std::uint64_t> passages_;     // of the sampled rows; after seal(), their slots
    std::vector<std::uint64_t> filter_;       // a bit per hash value, set for the sample's passages
    std::vector<std::uint64_t> slots_;        // a hash table of the passages; 0: empty
    std::vector<std::uint32_t> occurrences_;  // by slot: in rows of the passage's own document
    std::vector<std::uint8_t> is_trained_;    // by slot: whether a training row contains it
};

}  // namespace bertpretrain
