#include "deduplication/word_hashes.h"

#include "made_up_text.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::vector<std::uint64_t> words_of(std::string_view text) {
    std::vector<std::uint64_t> words;
    WordHashes().append(text, words);
    return words;
}

/// The same by the tokenizer's reader alone, which handles all that stands between two ASCII spaces where any of it is not ASCII.
std::vector<std::uint64_t> words_of_reader(const std::string& text) {
    std::string spaced;
    for (const char c : text) spaced += c == ' ' ? "\u3000" : std::string(1, c);
    std::vector<std::uint64_t> words = words_of(spaced + "\u3000\u00E9");
    words.pop_back();
    return words;
}

}  // namespace

TEST_CASE("texts that differ in case, punctuation and white space only have the same words") {
    CHECK(words_of("The moon, (it) is \"Round\"!") == words_of("the   MOON it is round"));
    CHECK(words_of("«Straße» — GROSS…") == words_of("straße gross"));
    CHECK(words_of("月は丸い。").size() > 1);
    CHECK(words_of("... !? —").empty());
    CHECK(words_of("Käse") != words_of("Kase"));
    CHECK(words_of("a b") != words_of("ab"));
}

TEST_CASE("ASCII text, which has a shortcut, gives the hashes of the words that the tokenizer's reader finds") {
    Numbers numbers(2);
    for (int i = 0; i < 3000; ++i) {
        std::string text;
        for (std::uint64_t n = numbers.below(60); n > 0; --n) {
            const std::uint64_t kind = numbers.below(9);
            if (kind == 0) text += static_cast<char>(' ' + numbers.below(95));
            else if (kind == 1) text += "\t\r\n \x01\x0B\x1F\x7F"[numbers.below(8)];
            else if (kind < 4) text += ' ';
            else
                text.append(numbers.below(i % 100 == 0 ? 300 : 12),
                            static_cast<char>((kind % 2 == 0 ? 'A' : 'a') + numbers.below(26)));
        }
        CAPTURE(text);
        CHECK(words_of(text) == words_of_reader(text));
    }
}

TEST_CASE("text with some words beyond ASCII gives the hashes of the words that the tokenizer's reader finds, in order") {
    Numbers numbers(5);
    const std::vector<std::string> kinds = {"moon",
                                            "Round",
                                            "x",
                                            "K\u00e4se",
                                            "\u0441\u043b\u043e\u0432\u043e",
                                            "\u65e5\u672c",
                                            "a\u0301b",
                                            "\x01"
                                            "c",
                                            "\u2026",
                                            "12",
                                            "\xFF",
                                            "abcdefghi\u00e9jklmnopq"};
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        for (std::uint64_t n = numbers.below(8); n > 0; --n)
            text += kinds[numbers.below(static_cast<std::uint32_t>(kinds.size()))] + (numbers.below(5) == 0   ? "  "
                                                                                      : numbers.below(5) == 0 ? "\t"
                                                                                                              : " ");
        CAPTURE(text);
        CHECK(words_of(text) == words_of_reader(text));
    }
}

TEST_CASE("a content hash depends on the words and their order") {
    const auto hash = [](std::string_view text) { return content_hash(words_of(text)); };
    CHECK(hash("one two three") == hash("One, two; three."));
    CHECK(hash("one two three") != hash("one three two"));
    CHECK(hash("one two") != hash("one two two"));
}

TEST_CASE("the Jaccard value of hashed shingles is that of the words themselves") {
    Numbers numbers(1);
    for (int i = 0; i < 200; ++i) {
        const Words a = made_up_words(numbers, 1 + numbers.below(150)), b = changed(numbers, a, numbers.below(200));
        const auto hashed = [](const Words& words, std::size_t size) { return shingle_set(words_of(text_of(words)), size); };
        const std::size_t size = 1 + numbers.below(6);
        CHECK(jaccard(hashed(a, size), hashed(b, size)) == plain_jaccard(plain_shingles(a, size), plain_shingles(b, size)));
    }
}

TEST_CASE("fewer words than a shingle are one shingle, and no words are none") {
    std::vector<std::uint32_t> shingles;
    hash_shingles(words_of("only three words"), 5, shingles);
    CHECK(shingles.size() == 1);
    CHECK(jaccard(shingle_set(words_of("a b c"), 5), shingle_set(words_of("a b d"), 5)) == 0);
    hash_shingles({}, 5, shingles);
    CHECK(shingles.empty());
    CHECK(jaccard({}, {}) == 0);
}
