#pragma once
// The hash of one word, and of all words of a document in order.

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bertpretrain {

/// Odd constants with about as many ones as zeros; their values have no other meaning.
inline constexpr std::uint64_t hash_factor_a = 0x9E3779B97F4A7C15, hash_factor_b = 0xD6E8FEB86659FD93,
                               hash_factor_c = 0xA0761D6478BD642F;

/// A finalizer: each bit of the result depends on all bits of the argument.
inline std::uint64_t scramble(std::uint64_t value) {
    value = (value ^ (value >> 32)) * hash_factor_b;
    value = (value ^ (value >> 29)) * hash_factor_c;
    return value ^ (value >> 32);
}

/// Returns eight bytes as a number, whose lowest byte is the first one.
inline std::uint64_t eight_bytes(const char* bytes) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes, sizeof eight);
    return eight;
}

/// Returns the hash of a word. At least seven bytes of any value must follow it.
inline std::uint64_t hash_followed_word(const char* word, std::size_t size) {
    std::uint64_t hash = hash_factor_a * (size + 1);
    for (; size >= 8; size -= 8, word += 8) hash = scramble(hash ^ eight_bytes(word));
    return size == 0 ? hash : scramble(hash ^ (eight_bytes(word) & ((std::uint64_t{1} << (8 * size)) - 1)));
}

/// A hash of all words in order. Different texts have the same one by chance only: for 10^9 documents, with a probability of
/// 2e-21. It is no protection against texts that were made to collide.
struct ContentHash {
    std::uint64_t high = hash_factor_a, low = hash_factor_c;  ///< of no words

    void add(std::uint64_t word) {
        high = scramble(high ^ word);
        low = scramble(low + word * hash_factor_a);
    }
    auto operator<=>(const ContentHash&) const = default;
};

}  // namespace bertpretrain
