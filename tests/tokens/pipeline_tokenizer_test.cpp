// Rules of tokenizer.json on small definitions. tests/system compares ids with the tokenizers library.

#include <algorithm>
#include <array>

#include "core/random.h"
#include "definition_support.h"
#include "support/catch.h"
#include "tokens/models/symbol_merges.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;
using Pieces = std::vector<std::string>;

TEST_CASE("byte-level BPE merges the pair of lowest rank first, from the left, and only within words") {
    const json definition = byte_level_definition({{"a", "a"}, {"l", "l"}, {" ", "w"}, {" w", "o"}, {"o", " "}});
    CHECK(pieces_of(definition, "aaa aaaa") == Pieces{"aa", "a", " ", "aa", "aa"});
    CHECK(pieces_of(definition, "llo wo") == Pieces{"ll", "o", " wo"});
    CHECK(pieces_of(definition, "\xC3\xA9") == Pieces{"\xC3", "\xA9"});
    CHECK(pieces_of(definition, "").empty());
    CHECK(pieces_of(definition,
                    "a\xFF"
                    "a") == Pieces{"aa"});  // bytes that are not UTF-8 are dropped
}

TEST_CASE("a merge that is listed twice has its later rank") {
    CHECK(pieces_of(byte_level_definition({{"a", "b"}, {"b", "c"}}), "abc") == Pieces{"ab", "c"});
    CHECK(pieces_of(byte_level_definition({{"a", "b"}, {"b", "c"}, {"a", "b"}}), "abc") == Pieces{"a", "bc"});
}

TEST_CASE("a word of any length is merged as by a plain loop") {
    SymbolMerges merges(200);
    std::vector<std::array<std::int32_t, 3>> by_rank;
    RandomSequence random(5, Purpose::masking, 0);
    for (std::int32_t rank = 0; rank < 200; ++rank) {
        const auto left = static_cast<std::int32_t>(random.below(10 + static_cast<std::uint32_t>(rank)));
        const auto right = static_cast<std::int32_t>(random.below(10 + static_cast<std::uint32_t>(rank)));
        if (std::ranges::any_of(by_rank, [&](const auto& merge) { return merge[0] == left && merge[1] == right; })) continue;
        by_rank.push_back({left, right, 10 + rank});
        merges.add(left, right, static_cast<std::uint32_t>(by_rank.size()), 10 + rank);
    }
    for (std::size_t size = 1; size < 200; size += 3) {
        std::vector<std::int32_t> symbols(size), expected;
        for (std::int32_t& symbol : symbols) symbol = static_cast<std::int32_t>(random.below(10));
        expected = symbols;
        const auto merge_first = [&] {
            for (const auto& [left, right, merged] : by_rank)
                for (std::size_t i = 0; i + 1 < expected.size(); ++i)
                    if (expected[i] == left && expected[i + 1] == right) {
                        expected[i] = merged;
                        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                        return true;
                    }
            return false;
        };
        while (merge_first()) {}
        merges.apply(symbols, 0);
        CHECK(symbols == expected);
    }
}

TEST_CASE("added tokens are found before words are split, the longest first, and take white space if they say so") {
    json definition = byte_level_definition({});
    definition["added_tokens"] = {added_token("<m>", 256, {{"lstrip", true}}), added_token("<m>>", 257, {{"rstrip", true}}),
                                  added_token("ab", 258, {{"single_word", true}})};
    CHECK(pieces_of(definition, "x <m> y") == Pieces{"x", "<m>", " ", "y"});
    CHECK(pieces_of(definition, "x <m>> y") == Pieces{"x", " ", "<m>>", "y"});
    CHECK(pieces_of(definition, "ab abc ab") == Pieces{"ab", " ", "a", "b", "c", " ", "ab"});
}

TEST_CASE("an added token that is normalized is looked for in the normalized text") {
    json definition = byte_level_definition({});
    definition["normalizer"] = {{"type", "Lowercase"}};
    definition["added_tokens"] = {added_token("Ab", 256, {{"normalized", true}}), added_token("Cd", 257)};
    CHECK(pieces_of(definition, "aBCdcd") == Pieces{"Ab", "Cd", "c", "d"});
    json pieces = word_piece_definition({"[UNK]", "a", "b", "\u65e5"});
    pieces["added_tokens"] = {added_token("\u00c4  B", 4, {{"normalized", true}}), added_token("Cd", 5)};
    CHECK(pieces_of(pieces, "acdb") == Pieces{"[UNK]"});  // an added token is no piece of a word
    CHECK(pieces_of(pieces, "a\ta\u0308  b Cd\u65e5 cd") == Pieces{"a", "\u00c4  B", "Cd", "\u65e5", "[UNK]"});
}

TEST_CASE("StripAccents removes marks of all kinds, and Whitespace leaves words and runs of other signs") {
    json definition = byte_level_definition({});
    definition["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFD"}}, {{"type", "StripAccents"}}}}};
    CHECK(pieces_of(definition, "\u00e4a\u0903") == Pieces{"a", "a"});
    definition["normalizer"] = nullptr;
    definition["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers", {{{"type", "Whitespace"}}, {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}}}}};
    CHECK(pieces_of(definition, "a_1  ,.b") == Pieces{" ", "a", "_", "1", " ", ",", ".", " ", "b"});
}

TEST_CASE("text is normalized, split and prefixed by the steps of the definition") {
    json definition = byte_level_definition({{"\xC3", "\xA9"}});
    definition["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}};
    CHECK(pieces_of(definition, "E\xCC\x81") == Pieces{"\xC3\xA9"});
    definition["pre_tokenizer"]["add_prefix_space"] = true;
    CHECK(pieces_of(definition, "x") == Pieces{" ", "x"});
    CHECK(pieces_of(definition, " x") == Pieces{" ", "x"});
}

TEST_CASE("a byte that is no token becomes the unknown token, or disappears") {
    json definition = byte_level_definition({});
    definition["model"]["vocab"].erase("b");
    definition["model"]["vocab"].erase("c");
    CHECK(pieces_of(definition, "abca") == Pieces{"a", "a"});
    definition["model"]["unk_token"] = "d";
    CHECK(pieces_of(definition, "abca") == Pieces{"a", "d", "d", "a"});
    definition["model"]["fuse_unk"] = true;
    CHECK(pieces_of(definition, "abca") == Pieces{"a", "d", "a"});
}

TEST_CASE("WordPiece is BERT's, with the definition's added tokens, casing and longest word") {
    json definition = word_piece_definition({"[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "ab", "##c", "A"});
    CHECK(pieces_of(definition, "ABc x") == Pieces{"ab", "##c", "[UNK]"});
    definition["added_tokens"] = {added_token("[MASK]", 4), added_token("[new]", 8)};
    CHECK(pieces_of(definition, "ab[MASK]c[new]") == Pieces{"ab", "[MASK]", "[UNK]", "[new]"});
    definition["normalizer"]["lowercase"] = false;
    CHECK(pieces_of(definition, "A a") == Pieces{"A", "[UNK]"});
    definition["model"]["max_input_chars_per_word"] = 2;
    CHECK(pieces_of(definition, "abc ab") == Pieces{"[UNK]", "ab"});
}
