#pragma once
// The merges of a byte-pair model, applied to one word at a time.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace bertpretrain {

/// A hash table from pairs of symbols to the merge's rank and result. Thread-safe once filled.
class SymbolMerges {
public:
    explicit SymbolMerges(std::size_t expected);

    /// Adds a merge of `left` and `right`. A pair that is already there gets the new rank.
    void add(std::int32_t left, std::int32_t right, std::uint32_t rank, std::int32_t merged);

    /// Merges the symbols from index `begin` to the end of `symbols`: again and again the pair of lowest rank, of equal ones the
    /// leftmost, until no pair can be merged. Takes about linear time, but is quadratic for short words.
    void apply(std::vector<std::int32_t>& symbols, std::size_t begin) const;

private:
    static constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t longest_short = 64;  ///< symbols of a word that is scanned for every merge

    struct Merge {
        std::uint32_t rank = no_rank;
        std::int32_t merged = 0;
    };
    struct Slot {
        std::uint64_t pair = ~std::uint64_t{0};  ///< all ones: the slot is free
        Merge merge;
    };
    std::size_t slot_of(std::uint64_t pair) const;
    Merge find(std::int32_t left, std::int32_t right) const;
    std::size_t apply_to_short(std::int32_t* symbols, std::size_t size) const;
    std::size_t apply_to_long(std::int32_t* symbols, std::size_t size) const;

    std::vector<Slot> slots_;  ///< its size is a power of two, at least twice the number of merges
    /// The merges of two low symbols, by pair: few of them are used, so they stay in the cache, which a table of all merges
    /// leaves.
    std::vector<Merge> low_pairs_;
};

}  // namespace bertpretrain
