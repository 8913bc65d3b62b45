#pragma once
// Byte-pair-encoding merges for vocabulary training: words are symbol sequences, and the most frequent pair of neighbours
// becomes one symbol.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace bertpretrain {

struct SymbolPair {
    std::int32_t left, right;
};

/// Counts all pairs of neighbouring symbols and updates the counts with each merge. A merge takes time proportional to the
/// number of words that contain the pair.
class PairMerges {
public:
    /// Adds a word that occurs `count` times. Must not be called after merge().
    void add_word(const std::vector<std::int32_t>& symbols, std::int64_t count);

    struct Best {
        SymbolPair pair;
        std::int64_t count;
    };
    /// Returns the pair with the highest count, or nullopt if no pair is left. Ties go to the smaller left symbol, then to the
    /// smaller right one.
    std::optional<Best> most_frequent();

    /// Replaces every occurrence of `pair` with `merged`, scanning each word from the left.
    void merge(SymbolPair pair, std::int32_t merged);

private:
    struct Word {
        std::size_t begin;
        std::uint32_t size;
        std::int64_t count;
    };
    struct Occurrences {
        std::uint64_t pair = 0;
        std::int64_t count = 0;
        bool has_grown = false;            ///< whether grown_ contains the pair
        std::vector<std::uint32_t> words;  ///< indices of the words with this pair; may be outdated or repeated
    };
    /// A hash table of all pairs seen so far, with open addressing.
    class Pairs {
    public:
        /// Inserts the pair if it is missing. The reference is valid until the next call.
        Occurrences& operator[](std::uint64_t pair);

    private:
        std::size_t slot_of(std::uint64_t pair) const;

        std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);  ///< 0: free, else 1 + index; size a power of 2
        std::vector<Occurrences> occurrences_;
    };
    struct Candidate {
        std::int64_t count;
        std::uint64_t pair;
        bool operator<(const Candidate& other) const { return count != other.count ? count < other.count : pair > other.pair; }
    };

    void merge_in_word(std::uint32_t word, SymbolPair pair, std::int32_t merged);
    void lose(std::int32_t left, std::int32_t right, std::int64_t count);
    void gain(std::int32_t left, std::int32_t right, std::uint32_t word);

    std::vector<std::int32_t> symbols_;  ///< of all words, concatenated
    std::vector<Word> words_;
    Pairs pairs_;
    std::priority_queue<Candidate> queue_;  ///< has an entry >= each pair's count, plus outdated entries
    std::vector<std::uint64_t> grown_;      ///< pairs whose count increased since they were last pushed to queue_
};

}  // namespace bertpretrain
