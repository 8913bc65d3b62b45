#pragma once
// Made-up documents and the plain definition of similarity that the tests compare with.

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace bertpretrain::testing {

using Words = std::vector<std::string>;

/// The shape of these numbers is the same on every machine, unlike that of std::uniform_int_distribution.
class Numbers {
public:
    explicit Numbers(std::uint32_t seed) : engine_(seed) {}
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(engine_() % end); }

private:
    std::mt19937 engine_;
};

inline Words made_up_words(Numbers& numbers, std::size_t count) {
    Words words;
    for (std::size_t i = 0; i < count; ++i) words.push_back("w" + std::to_string(numbers.below(5000)));
    return words;
}

/// Replaces each word with a probability of `per_thousand` / 1000.
inline Words changed(Numbers& numbers, Words words, std::uint32_t per_thousand) {
    for (std::string& word : words)
        if (numbers.below(1000) < per_thousand) word = "x" + std::to_string(numbers.below(1'000'000));
    return words;
}

/// Ten words per sentence.
inline std::string text_of(const Words& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) text += words[i] + (i % 10 == 9 || i + 1 == words.size() ? ".\n" : " ");
    return text;
}

/// All runs of `size` words.
inline std::set<Words> plain_shingles(const Words& words, std::size_t size) {
    std::set<Words> shingles;
    const auto length = static_cast<std::ptrdiff_t>(std::min(size, words.size()));
    for (auto begin = words.begin(); words.end() - begin >= length; ++begin) shingles.insert(Words(begin, begin + length));
    return shingles;
}

/// The definition.
inline double plain_jaccard(const std::set<Words>& a, const std::set<Words>& b) {
    std::size_t common = 0;
    for (const Words& shingle : a) common += b.count(shingle);
    return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

}  // namespace bertpretrain::testing
