#include "tokens/models/unknown_tokens.h"

#include <array>

#include "support/catch.h"
#include "tokens/listed_vocabulary.h"

using namespace bertpretrain;
using bertpretrain::testing::listed_vocabulary;
using Strings = std::vector<std::string>;

TEST_CASE("the share of unknown tokens counts the text's own tokens, and its example is the first text with an unknown one") {
    const Vocabulary vocabulary = listed_vocabulary({"a", "b"});
    UnknownTokens found;
    found.add(std::array{2, 5, 6, 4, 3, 0, 0}, "a b [MASK]", vocabulary.specials());
    CHECK(found.tokens == 2);
    CHECK(found.share() == 0);
    CHECK(found.example.empty());
    found.add(std::array{2, 1, 6, 3}, "x\ty\x1B", vocabulary.specials());
    found.add(std::array{1}, "later", vocabulary.specials());
    CHECK(found.tokens == 5);
    CHECK(found.share() == Approx(2 / 5.0));
    CHECK(found.example == "x\\x09y\\x1b");
    UnknownTokens later;
    later.add(std::array{1, 5}, std::string(41, 'z'), vocabulary.specials());
    CHECK(later.example == std::string(40, 'z') + "...");
    found.add(later);
    CHECK(found.share() == Approx(3 / 7.0));
    CHECK(UnknownTokens().share() == 0);
}

TEST_CASE("a vocabulary of k-mers is told from one of words, and the advice is how to cut sequences into them") {
    std::vector<std::string> kmers;
    for (const char a : std::string("ACGT"))
        for (const char b : std::string("ACGT"))
            for (const char c : std::string("ACGT")) kmers.push_back({a, b, c});
    CHECK(length_of_kmers(listed_vocabulary(kmers)) == 3);
    CHECK_THAT(cause_of_unknown(listed_vocabulary(kmers)),
               Catch::Contains("k-mers, words of 3 letters") && Catch::Contains("Overlapping k-mers"));
    CHECK(length_of_kmers(listed_vocabulary({"a", "c", "g", "t"})) == 0);
    CHECK(length_of_kmers(listed_vocabulary({"the", "cat", "sat", "on", "a", "mat"})) == 0);
    kmers.insert(kmers.end(), {"A", "AC", "ACGT", "ACGTA", "T", "TA", "TTTT", "G"});
    CHECK(length_of_kmers(listed_vocabulary(kmers)) == 0);
}

TEST_CASE("a vocabulary of letters is told from one with words or pieces") {
    CHECK(has_letters_only(listed_vocabulary({"a", "c", "g", "t"})));
    CHECK(has_letters_only(listed_vocabulary({"\u00e4", "*", "b"})));
    CHECK_FALSE(has_letters_only(listed_vocabulary({"a", "##a", "b", "##b"})));
    CHECK_FALSE(has_letters_only(listed_vocabulary({"a", "b", "word"})));
    CHECK_FALSE(has_letters_only(listed_vocabulary({})));
}
