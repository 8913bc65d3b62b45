#pragma once
// Everything that words.h asks about one character, worked out when first met and then looked up.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/unicode.h"

namespace bertpretrain {

/// Whether letters keep case and accents.
enum class Casing {
    uncased,                ///< lower case, accents stripped
    cased,                  ///< as written
    uncased_with_accents,   ///< lower case, accents kept
    cased_without_accents,  ///< accents stripped
};

/// What becomes of a character in a word.
struct Character {
    CharacterKind kind = CharacterKind::dropped;
    bool in_context = false;  ///< its form depends on the characters beside: a capital sigma, or marks that change places
    std::uint8_t size = 0;
    std::array<char, 13> bytes{};  ///< its form in UTF-8, `size` bytes; none for an accent that is stripped

    std::string_view form() const { return {bytes.data(), size}; }
};

/// The characters of all code points, under one casing and one tool's rules. Thread-safe.
class CharacterTable {
public:
    /// Made when first asked for, and kept for good.
    static const CharacterTable& of(Casing casing, TokenRules rules);
    CharacterTable(Casing casing, TokenRules rules);

    /// @param code_point a Unicode scalar value
    const Character& operator[](char32_t code_point) const {
        const Block* block = blocks_[code_point / block_size].load(std::memory_order_acquire);
        if (block == nullptr) block = &make_block(code_point / block_size);
        return (*block)[code_point % block_size];
    }
    /// The same for ASCII, faster.
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
    bool lowers_, strips_;
    std::array<Character, ascii_size> ascii_;
    mutable std::array<std::atomic<const Block*>, code_points / block_size> blocks_{};
    mutable std::vector<std::unique_ptr<const Block>> made_;
    mutable std::mutex making_;
};

}  // namespace bertpretrain
