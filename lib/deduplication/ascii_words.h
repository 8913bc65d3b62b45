#pragma once
// The words in the ASCII parts of a text, which are most of many languages, without the tokenizer's reader.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "deduplication/word_hash.h"

namespace bertpretrain {

/// Hashes ASCII words in lower case. Not thread-safe.
class AsciiWords {
public:
    void take(std::string_view text);

    /// Returns the index at or after `from` of the text's first byte that belongs to no ASCII character, or to a control
    /// character other than tabs and ends of lines; the text's size if there is none.
    std::size_t next_other(std::size_t from) const {
        const void* const found = from == size_ ? nullptr : std::memchr(lower_.data() + from, other, size_ - from);
        return found == nullptr ? size_ : static_cast<std::size_t>(static_cast<const char*>(found) - lower_.data());
    }

    /// Calls visit(hash) for each word between two indices. None of the bytes there is such a one, and no word crosses `end`.
    template <class Visit>
    void for_each(std::size_t begin, std::size_t end, const Visit& visit) const {
        const char* at = lower_.data() + begin;
        const char* const last = lower_.data() + end;
        while (at < last) {
            const std::uint64_t eight = eight_bytes(at);
            std::size_t size = bytes_before_zero(eight);
            if (size < sizeof eight) {
                if (size > 0) visit(scramble(hash_factor_a * (size + 1) ^ (eight & ((std::uint64_t{1} << (8 * size)) - 1))));
            } else {
                for (std::size_t more = size; more == sizeof eight; size += more)
                    more = bytes_before_zero(eight_bytes(at + size));
                visit(hash_followed_word(at, size));
            }
            at += size + 1;
        }
    }

private:
    static constexpr char other = 1;

    /// Returns how many bytes precede the first one that is zero; 8 if there is none.
    static std::size_t bytes_before_zero(std::uint64_t eight) {
        const std::uint64_t zeros = (eight - 0x0101010101010101) & ~eight & 0x8080808080808080;
        return static_cast<std::size_t>(std::countr_zero(zeros)) / 8;
    }

    /// Letters in lower case and digits; zero for what separates words, and for 16 bytes after the text; else `other`.
    std::string lower_;
    std::size_t size_ = 0;
};

}  // namespace bertpretrain
