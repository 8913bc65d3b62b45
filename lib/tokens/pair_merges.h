#pragma once
// The inner engine of vocabulary training: words as rows of symbols, whose most frequent neighbours become one symbol.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace bertpretrain {

struct SymbolPair {
    std::int32_t left, right;
};

/// Keeps how often each pair of neighbouring symbols occurs, while pairs are merged. A merge costs about as much as the
/// pair has occurrences.
class PairMerges {
public:
    /// Adds a word that occurs `count` times. Only before the first merge.
    void add_word(const std::vector<std::int32_t>& symbols, std::int64_t count);

    struct Best {
        SymbolPair pair;
        std::int64_t count;
    };
    /// The pair with the highest count; among equals the one with the smaller left symbol, then the smaller right one.
    std::optional<Best> most_frequent();

    /// Replaces the pair, from the left of each word, by `merged`.
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
        bool has_grown = false;            ///< it stands in grown_
        std::vector<std::uint32_t> words;  ///< a superset of those that contain the pair now, perhaps with repetitions
    };
    /// The occurrences of all pairs met so far, found by open addressing.
    class Pairs {
    public:
        /// Valid until the next call.
        Occurrences& operator[](std::uint64_t pair);

    private:
        std::size_t slot_of(std::uint64_t pair) const;

        std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);  ///< a power of two; 0: free, else 1 + the place
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

    std::vector<std::int32_t> symbols_;  ///< of all words, one after the other
    std::vector<Word> words_;
    Pairs pairs_;
    std::priority_queue<Candidate> queue_;  ///< every pair with its present count at least, perhaps also with older ones
    std::vector<std::uint64_t> grown_;      ///< pairs that gained since the queue was last brought up to date
};

}  // namespace bertpretrain
