#include "tokens/training/vocabulary_extension.h"

#include <memory>

#include "support/catch.h"
#include "tokens/listed_vocabulary.h"
#include "tokens/models/wordpiece.h"

using namespace bertpretrain;
using bertpretrain::testing::listed_vocabulary;
using Strings = std::vector<std::string>;

namespace {

/// The tokens that `extended` has after those of `vocabulary`.
Strings added(const Vocabulary& vocabulary, const Vocabulary& extended) {
    CHECK(std::equal(vocabulary.tokens().begin(), vocabulary.tokens().end(), extended.tokens().begin()));
    return {extended.tokens().begin() + vocabulary.size(), extended.tokens().end()};
}

std::size_t tokens_in(const Vocabulary& vocabulary, const WordCounts& counts) {
    const WordPiece tokenizer(std::make_shared<Vocabulary>(vocabulary), Casing::uncased);
    std::size_t tokens = 0;
    for (const auto& [word, count] : counts) tokens += tokenizer.encode(word).size() * static_cast<std::size_t>(count);
    return tokens;
}

}  // namespace

TEST_CASE("an extension appends the joined pieces that save most tokens of the text, and keeps every id") {
    const Vocabulary vocabulary = listed_vocabulary({"card", "##io", "##my", "heart", "##s", "a", "##b"});
    const WordCounts counts{{"cardio", 6}, {"cardiomy", 5}, {"hearts", 3}, {"heart", 9}, {"ab", 1}};
    CHECK(added(vocabulary, extend_vocabulary(vocabulary, counts, {.additions = 1})) == Strings{"cardio"});
    CHECK(added(vocabulary, extend_vocabulary(vocabulary, counts, {.additions = 9})) == Strings{"cardio", "cardiomy", "hearts"});
    const Vocabulary extended = extend_vocabulary(vocabulary, counts, {.additions = 2});
    CHECK(tokens_in(vocabulary, counts) - tokens_in(extended, counts) == 11 + 5);
}

TEST_CASE("characters that the vocabulary lacks are added first, as many as half of the additions") {
    const Vocabulary vocabulary = listed_vocabulary({"a", "##a"});
    const WordCounts counts{{"ax", 5}, {"ya", 4}, {"az", 1}};
    CHECK(added(vocabulary, extend_vocabulary(vocabulary, counts, {.additions = 8})) == Strings{"##x", "y", "ax", "ya"});
    CHECK(added(vocabulary, extend_vocabulary(vocabulary, counts, {.additions = 2})) == Strings{"##x", "ax"});
}

TEST_CASE("a character is added only where it occurs more often than the pair of pieces whose place it takes") {
    const Vocabulary vocabulary = listed_vocabulary({"card", "##io", "##my", "heart", "##s"});
    const WordCounts counts{{"cardio", 16}, {"cardiomy", 15}, {"hearts", 13}, {"\u5b57", 12}, {"\u6f22", 14}, {"\u4e2d", 2}};
    const auto add = [&](std::int32_t additions) {
        return added(vocabulary, extend_vocabulary(vocabulary, counts, {.additions = additions}));
    };
    CHECK(add(1) == Strings{"cardio"});
    CHECK(add(2) == Strings{"cardio", "cardiomy"});
    CHECK(add(3) == Strings{"\u6f22", "cardio", "cardiomy"});
    CHECK(add(4) == Strings{"\u6f22", "cardio", "cardiomy", "hearts"});
    CHECK(add(6) == Strings{"\u6f22", "\u5b57", "\u4e2d", "cardio", "cardiomy", "hearts"});
}

TEST_CASE("given tokens are appended in their order, and a known or repeated one is refused") {
    const Vocabulary vocabulary = listed_vocabulary({"[unused0]", "card", "##io"});
    CHECK(added(vocabulary, extend_vocabulary(vocabulary, Strings{"zebra", "##ology"}, false)) == Strings{"zebra", "##ology"});
    const Vocabulary extended = extend_vocabulary(vocabulary, Strings{"zebra", "##ology"}, true);
    CHECK(extended.token(5) == "zebra");
    CHECK(extended.token(8) == "##ology");
    CHECK_THROWS_WITH(extend_vocabulary(vocabulary, Strings{"card"}, false),
                      Catch::Contains("\"card\": is in the vocabulary already"));
    CHECK_THROWS_WITH(extend_vocabulary(vocabulary, Strings{"a", "a"}, false), Catch::Contains("\"a\""));
}

TEST_CASE("an extension's summary counts its characters, pieces and words, and the tokens of the text's words") {
    const Vocabulary vocabulary = listed_vocabulary({"card", "##io", "##my", "heart", "##s"});
    const WordCounts counts{{"cardio", 6}, {"cardiomy", 5}, {"hearts", 3}, {"\u5b57", 4}, {"heart", 2}};
    const ExtensionSummary summary =
        summary_of(vocabulary, extend_vocabulary(vocabulary, Strings{"cardio", "##iomy", "\u5b57"}, false), counts);
    CHECK(summary.characters == 1);
    CHECK(summary.words == 1);
    CHECK(summary.pieces == 1);
    CHECK(summary.unused == 1);  // cardiomy is cardio and ##my
    CHECK(summary_of(vocabulary, extend_vocabulary(vocabulary, Strings{"cardio", "zebra", "##lion"}, false), counts).unused == 2);
    CHECK(summary.tokens_per_word_before == Approx((6 * 2 + 5 * 3 + 3 * 2 + 4 + 2) / 20.0));
    CHECK(summary.tokens_per_word_after == Approx((6 + 5 * 2 + 3 * 2 + 4 + 2) / 20.0));
    CHECK(summary.unknown_before == Approx(4 / 20.0));
    CHECK(summary.unknown_after == 0);
}

TEST_CASE("new tokens take the places of unused ones if asked to") {
    const Vocabulary vocabulary = listed_vocabulary({"[unused0]", "card", "[unused1]", "##io", "##my", "[unused]"});
    const WordCounts counts{{"cardio", 6}, {"cardiomy", 5}};
    const VocabularyExtension extension{.additions = 3, .reuses_unused = true};
    const Vocabulary extended = extend_vocabulary(vocabulary, counts, extension);
    CHECK(extended.size() == vocabulary.size());
    CHECK(extended.token(5) == "cardio");
    CHECK(extended.token(7) == "cardiomy");
    CHECK(*new_tokens(vocabulary, extended) == std::vector<std::int32_t>{5, 7});
}

TEST_CASE("only appended tokens and those in unused places are new; any other difference makes another vocabulary") {
    const Vocabulary vocabulary = listed_vocabulary({"[unused0]", "a", "b"});
    CHECK(new_tokens(vocabulary, vocabulary)->empty());
    CHECK(*new_tokens(vocabulary, listed_vocabulary({"c", "a", "b", "d"})) == std::vector<std::int32_t>{5, 8});
    CHECK_FALSE(new_tokens(vocabulary, listed_vocabulary({"[unused0]", "b", "a"})));
    CHECK_FALSE(new_tokens(vocabulary, listed_vocabulary({"[unused0]", "a"})));
}

TEST_CASE("a token's pieces are those of WordPiece, also of a token that continues a word") {
    const Vocabulary vocabulary = listed_vocabulary({"c", "card", "##io", "##i", "##o", "\xC3\xA9", "##\xC3\xA9"});
    const auto texts = [&](std::string_view token) {
        Strings pieces;
        for (const std::int32_t id : pieces_of(vocabulary, token)) pieces.push_back(vocabulary.token(id));
        return pieces;
    };
    CHECK(texts("cardio") == Strings{"card", "##io"});
    CHECK(texts("##ioi") == Strings{"##io", "##i"});
    CHECK(texts("c\xC3\xA9i") == Strings{"c", "##\xC3\xA9", "##i"});
    CHECK(texts("cab").empty());
}
