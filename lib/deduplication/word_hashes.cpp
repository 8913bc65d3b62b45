#include "deduplication/word_hashes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "text/utf8.h"
#include "tokens/unicode.h"

namespace bertpretrain {
namespace {

/// Odd constants with about as many ones as zeros; their values have no other meaning.
constexpr std::uint64_t factor_a = 0x9E3779B97F4A7C15, factor_b = 0xD6E8FEB86659FD93, factor_c = 0xA0761D6478BD642F;

/// A finalizer: each bit of the result depends on all bits of the argument.
std::uint64_t scramble(std::uint64_t value) {
    value = (value ^ (value >> 32)) * factor_b;
    value = (value ^ (value >> 29)) * factor_c;
    return value ^ (value >> 32);
}

std::uint64_t hash_word(std::string_view word) {
    std::uint64_t hash = factor_a * (word.size() + 1);
    while (!word.empty()) {
        std::uint64_t eight = 0;
        const std::size_t size = std::min<std::size_t>(word.size(), sizeof eight);
        std::memcpy(&eight, word.data(), size);
        word.remove_prefix(size);
        hash = scramble(hash ^ eight);
    }
    return hash;
}

/// The same as hash_word() for a word that seven bytes of any value follow.
std::uint64_t hash_followed_word(const char* word, std::size_t size) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t hash = factor_a * (size + 1), eight = 0;
    for (; size >= sizeof eight; size -= sizeof eight, word += sizeof eight) {
        std::memcpy(&eight, word, sizeof eight);
        hash = scramble(hash ^ eight);
    }
    if (size == 0) return hash;
    std::memcpy(&eight, word, sizeof eight);
    return scramble(hash ^ (eight & ((std::uint64_t{1} << (8 * size)) - 1)));
}

/// For each byte of a text: a letter in lower case, a digit, 0 where it separates words (white space, punctuation), or
/// needs_reader.
constexpr char needs_reader = 1;
constexpr std::array<char, 256> byte_of_word = [] {
    std::array<char, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const char c = static_cast<char>(i);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) table[i] = c;
        else if (c >= 'A' && c <= 'Z') table[i] = static_cast<char>(c - 'A' + 'a');
        else if (c == '\t' || c == '\n' || c == '\r' || (c >= ' ' && c <= '~')) table[i] = 0;
        else table[i] = needs_reader;
    }
    return table;
}();

/// A word of the reader that begins with punctuation is a single mark.
bool is_punctuation(std::string_view word) {
    std::size_t position = 0;
    return character_kind(next_code_point(word, position), TokenRules::huggingface) == CharacterKind::punctuation &&
           position == word.size();
}

bool is_ascii_word(char c) { return is_ascii_letter(c) || is_ascii_digit(c); }

}  // namespace

/// A shortcut for text of ASCII characters without controls, which is most of many languages; returns false for other text.
bool WordHashes::append_ascii(std::string_view text, std::vector<std::uint64_t>& hashes) {
    lower_.assign(text.size() + sizeof(std::uint64_t), '\0');
    bool is_ascii = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        lower_[i] = byte_of_word[static_cast<unsigned char>(text[i])];
        is_ascii &= lower_[i] != needs_reader;
    }
    if (!is_ascii) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t begin = i;
        while (lower_[i] != 0) ++i;
        if (i > begin) hashes.push_back(hash_followed_word(lower_.data() + begin, i - begin));
    }
    return true;
}

void WordHashes::append(std::string_view text, std::vector<std::uint64_t>& hashes) {
    if (append_ascii(text, hashes)) return;
    reader_.start(text);
    for (std::string_view word = reader_.next(); !word.empty(); word = reader_.next())
        if (is_ascii_word(word.front()) || !is_punctuation(word)) hashes.push_back(hash_word(word));
}

ContentHash content_hash(std::span<const std::uint64_t> words) {
    ContentHash hash{factor_a, factor_c};
    for (const std::uint64_t word : words) {
        hash.high = scramble(hash.high ^ word);
        hash.low = scramble(hash.low + word * factor_a);
    }
    return hash;
}

void hash_shingles(std::span<const std::uint64_t> words, std::size_t size, std::vector<std::uint32_t>& shingles) {
    shingles.clear();
    if (words.empty()) return;
    size = std::min(size, words.size());
    // A polynomial of the words' hashes, which moves from one run to the next in two multiplications.
    std::uint64_t sum = 0, factor_of_last = 1;
    for (std::size_t i = 0; i < size; ++i) {
        sum = sum * factor_a + words[i];
        factor_of_last *= factor_a;
    }
    shingles.reserve(words.size() - size + 1);
    shingles.push_back(static_cast<std::uint32_t>(scramble(sum)));
    for (std::size_t i = size; i < words.size(); ++i) {
        sum = sum * factor_a + words[i] - words[i - size] * factor_of_last;
        shingles.push_back(static_cast<std::uint32_t>(scramble(sum)));
    }
}

std::vector<std::uint32_t> shingle_set(std::span<const std::uint64_t> words, std::size_t size) {
    std::vector<std::uint32_t> shingles;
    hash_shingles(words, size, shingles);
    std::sort(shingles.begin(), shingles.end());
    shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
    return shingles;
}

double jaccard(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
    std::size_t common = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const std::uint32_t x = a[i], y = b[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    const std::size_t all = a.size() + b.size() - common;
    return all == 0 ? 0 : static_cast<double>(common) / static_cast<double>(all);
}

}  // namespace bertpretrain
