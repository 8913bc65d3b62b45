#pragma once
// Counter-based random numbers: a function of (seed, purpose, position) without hidden state, so that any position can be drawn.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/philox.h"

namespace bertpretrain {

using PhiloxKey = std::array<std::uint32_t, 2>;
using PhiloxCounter = std::array<std::uint32_t, 4>;

/// Returns four random words for each (key, counter) (philox.h).
inline PhiloxCounter philox(PhiloxKey key, PhiloxCounter counter) {
    std::uint32_t words[4] = {counter[0], counter[1], counter[2], counter[3]};
    philox_words(words, {key[0], key[1]});
    return {words[0], words[1], words[2], words[3]};
}

/// What a stream of random numbers is used for. Streams of different purposes are independent.
enum class Purpose : std::uint32_t {
    initial_weights = 1,
    hidden_dropout = 2,
    attention_dropout = 3,
    sample_order = 4,
    sentence_pairs = 5,
    masking = 6,
    document_order = 7,
    held_out_split = 8,
    dynamic_masking = 9,
};

/// Returns the key of all streams of one seed and purpose.
inline PhiloxKey philox_key(std::uint64_t seed, Purpose purpose) {
    const PhiloxCounter mixed = philox({static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
                                       {static_cast<std::uint32_t>(purpose), 0x62657274, 0, 0});
    return {mixed[0], mixed[1]};
}

/// The random numbers at position (`high`, `low`) of a stream, drawn one after the other.
class RandomSequence {
public:
    /// @param low second part of the position; it has a 32-bit counter word of its own
    RandomSequence(std::uint64_t seed, Purpose purpose, std::uint64_t high, std::uint32_t low = 0)
        : key_(philox_key(seed, purpose)),
          counter_{0, low, static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)} {}

    std::uint32_t next() {
        if (used_ == 4) {
            words_ = philox(key_, counter_);
            ++counter_[0];
            used_ = 0;
        }
        return words_[used_++];
    }

    /// Returns a uniform integer in [0, bound), without bias (Lemire 2019). `bound` must be at least 1.
    std::uint32_t below(std::uint32_t bound) {
        std::uint64_t product = std::uint64_t{next()} * bound;
        if (static_cast<std::uint32_t>(product) < bound)
            for (const std::uint32_t threshold = (0U - bound) % bound; static_cast<std::uint32_t>(product) < threshold;)
                product = std::uint64_t{next()} * bound;
        return static_cast<std::uint32_t>(product >> 32);
    }

    /// Returns a uniform number in [0, 1) with 24 random bits.
    float uniform() { return static_cast<float>(next() >> 8) * 0x1p-24F; }

    /// Fisher-Yates shuffle of fewer than 2^32 items.
    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
    }

private:
    PhiloxKey key_;
    PhiloxCounter counter_;
    PhiloxCounter words_{};
    std::size_t used_ = 4;
};

}  // namespace bertpretrain
