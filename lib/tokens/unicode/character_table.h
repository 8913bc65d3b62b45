#pragma once
// What words.h needs to know about each code point: computed on first use, then looked up.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/unicode/unicode.h"

namespace bertpretrain {

/// Whether normalization keeps case and accents.
enum class Casing {
    uncased,                ///< lower case, accents stripped
    cased,                  ///< as written
    uncased_with_accents,   ///< lower case, accents kept
    cased_without_accents,  ///< accents stripped
};

/// A code point's class and its normalized form.
struct Character {
    CharacterKind kind = CharacterKind::dropped;
    bool in_context = false;  ///< the form depends on neighbours: a capital sigma, or a mark that may be reordered; no `bytes`
    std::uint8_t size = 0;
    std::array<char, 13> bytes{};  ///< the form in UTF-8, `size` bytes; size 0 for an accent that is stripped

    std::string_view form() const { return {bytes.data(), size}; }
};

/// Maps every code point to its Character for one casing and one tool's rules. Thread-safe.
class CharacterTable {
public:
    /// Returns a shared table, built on the first call and kept until the process ends.
    /// @param splits_ideographs whether a Chinese character is a word by itself; otherwise it is a letter
    static const CharacterTable& of(Casing casing, TokenRules rules, bool splits_ideographs = true);
    CharacterTable(Casing casing, TokenRules rules, bool splits_ideographs = true);

    /// @param code_point a Unicode scalar value
    const Character& operator[](char32_t code_point) const {
        const Block* block = blocks_[code_point / block_size].load(std::memory_order_acquire);
        if (block == nullptr) block = &make_block(code_point / block_size);
        return (*block)[code_point % block_size];
    }
    /// The same for ASCII, without the block lookup.
    const Character& ascii(char c) const { return ascii_[static_cast<unsigned char>(c)]; }

    bool lowers() const { return lowers_; }
    TokenRules rules() const { return rules_; }

private:
    static constexpr std::size_t block_size = 64, ascii_size = 128, code_points = 0x110000;
    using Block = std::array<Character, block_size>;

    const Block& make_block(std::size_t number) const;
    Character character_of(char32_t code_point) const;
    std::u32string decomposed(char32_t code_point) const;
    std::u32string lowered(const std::u32string& text) const;

    TokenRules rules_;
    bool lowers_, strips_, splits_ideographs_;
    std::array<Character, ascii_size> ascii_;
    mutable std::array<std::atomic<const Block*>, code_points / block_size> blocks_{};
    mutable std::vector<std::unique_ptr<const Block>> made_;
    mutable std::mutex making_;
};

}  // namespace bertpretrain
