#include "deduplication/word_hashes.h"

#include <algorithm>
#include <cstring>

#include "text/utf8.h"
#include "tokens/unicode/unicode.h"

namespace bertpretrain {
namespace {

std::uint64_t hash_word(std::string_view word) {
    std::uint64_t hash = hash_factor_a * (word.size() + 1);
    while (!word.empty()) {
        std::uint64_t eight = 0;
        const std::size_t size = std::min<std::size_t>(word.size(), sizeof eight);
        std::memcpy(&eight, word.data(), size);
        word.remove_prefix(size);
        hash = scramble(hash ^ eight);
    }
    return hash;
}

/// A word of the reader that begins with punctuation is a single mark.
bool is_punctuation(std::string_view word) {
    std::size_t position = 0;
    return character_kind(next_code_point(word, position), TokenRules::huggingface) == CharacterKind::punctuation &&
           position == word.size();
}

bool is_ascii_word(char c) { return is_ascii_letter(c) || is_ascii_digit(c); }

}  // namespace

void WordHashes::collect_others(std::string_view text) {
    others_.clear();
    reader_.start(text);
    for (std::string_view word = reader_.next(); !word.empty(); word = reader_.next())
        if (is_ascii_word(word.front()) || !is_punctuation(word)) others_.push_back(hash_word(word));
}

ContentHash content_hash(std::span<const std::uint64_t> words) {
    ContentHash hash;
    for (const std::uint64_t word : words) hash.add(word);
    return hash;
}

void hash_shingles(std::span<const std::uint64_t> words, std::size_t size, std::vector<std::uint32_t>& shingles) {
    shingles.clear();
    if (words.empty()) return;
    size = std::min(size, words.size());
    // A polynomial of the words' hashes, which moves from one run to the next in two multiplications.
    std::uint64_t sum = 0, factor_of_last = 1;
    for (std::size_t i = 0; i < size; ++i) {
        sum = sum * hash_factor_a + words[i];
        factor_of_last *= hash_factor_a;
    }
    shingles.reserve(words.size() - size + 1);
    shingles.push_back(static_cast<std::uint32_t>(scramble(sum)));
    for (std::size_t i = size; i < words.size(); ++i) {
        sum = sum * hash_factor_a + words[i] - words[i - size] * factor_of_last;
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
