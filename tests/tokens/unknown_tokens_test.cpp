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

TEST_CASE("a vocabulary of letters is told from one with words or pieces") {
    CHECK(has_letters_only(listed_vocabulary({"a", "c", "g", "t"})));
    CHECK(has_letters_only(listed_vocabulary({"\u00e4", "*", "b"})));
    CHECK_FALSE(has_letters_only(listed_vocabulary({"a", "##a", "b", "##b"})));
    CHECK_FALSE(has_letters_only(listed_vocabulary({"a", "b", "word"})));
    CHECK_FALSE(has_letters_only(listed_vocabulary({})));
}
