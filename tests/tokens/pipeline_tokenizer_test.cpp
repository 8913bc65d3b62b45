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

TEST_CASE("WordLevel gives each word its token, or the unknown one, after any normalizer and pre-tokenizer") {
    json definition = word_piece_definition({});
    definition["model"] = {
        {"type", "WordLevel"}, {"vocab", {{"[UNK]", 0}, {"ACG", 1}, {"CGT", 2}, {"M", 3}, {"K", 4}}}, {"unk_token", "[UNK]"}};
    definition["normalizer"] = nullptr;
    definition["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
    CHECK(pieces_of(definition, "ACG  CGT\tacg ACGT") == Pieces{"ACG", "CGT", "[UNK]", "[UNK]"});
    definition["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "[A-Z]"}}}, {"behavior", "Isolated"}};
    CHECK(pieces_of(definition, "MKX") == Pieces{"M", "K", "[UNK]"});
    definition["normalizer"] = {
        {"type", "BertNormalizer"}, {"clean_text", true}, {"handle_chinese_chars", true}, {"lowercase", true}};
    CHECK(pieces_of(definition, "M") == Pieces{"[UNK]"});
    CHECK_FALSE(tokenizer_of(definition)->keeps_spaces());
}

TEST_CASE("WordPiece cuts the words of any pre-tokenizer into its longest pieces") {
    json definition = word_piece_definition({"[UNK]", "ab", "##c", "A", "."});
    definition["normalizer"] = nullptr;
    CHECK(pieces_of(definition, "abc.A a") == Pieces{"ab", "##c", ".", "A", "[UNK]"});
    definition["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
    CHECK(pieces_of(definition, "abc. abc") == Pieces{"[UNK]", "ab", "##c"});
    CHECK(pieces_of(definition, "##c ##cc ab##c") == Pieces{"##c", "##c", "##c", "[UNK]"});  // a piece matches its own text
}

TEST_CASE("BPE of characters merges within words, and its unknown characters become tokens of bytes or the unknown one") {
    json definition = character_definition({{"a", "b"}, {"ab", "c"}});
    CHECK(pieces_of(definition, "abcab cab") == Pieces{"abc", "ab", "c", "ab"});
    CHECK(pieces_of(definition, "a\u00e9\u00e9b") == Pieces{"ab"});  // without an unknown token they disappear
    definition["model"]["unk_token"] = "z";
    CHECK(pieces_of(definition, "a\u00e9\u00e9b") == Pieces{"a", "z", "z", "b"});
    definition["model"]["fuse_unk"] = true;
    CHECK(pieces_of(definition, "a\u00e9\u00e9b") == Pieces{"a", "z", "b"});
    definition["model"]["byte_fallback"] = true;
    definition["model"]["vocab"].update(json{{"<0xC3>", 28}, {"<0xA9>", 29}});
    CHECK(pieces_of(definition, "a\u00e9b\u00e8") == Pieces{"a", "<0xC3>", "<0xA9>", "b", "z"});
}

TEST_CASE("tokens of a BPE may begin with a prefix within a word and end with a suffix at its end") {
    json definition = character_definition({{"a", "b"}});
    definition["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"##b", 2}, {"ab", 3}, {"##a", 4}};
    definition["model"]["merges"] = {"a ##b"};
    definition["model"]["continuing_subword_prefix"] = "##";
    CHECK(pieces_of(definition, "abab ba") == Pieces{"ab", "##a", "##b", "b", "##a"});
    CHECK(tokenizer_of(definition)->vocabulary().continues_word(2));
    CHECK_NOTHROW(tokenizer_of(definition)->vocabulary().require_word_marks());
    definition["model"] = {{"type", "BPE"},
                           {"vocab", {{"a", 0}, {"b", 1}, {"b</w>", 2}, {"ab</w>", 3}, {"a</w>", 4}}},
                           {"merges", {"a b</w>"}},
                           {"end_of_word_suffix", "</w>"}};
    CHECK(pieces_of(definition, "ab aab a") == Pieces{"ab</w>", "a", "ab</w>", "a</w>"});
    definition["added_tokens"] = {added_token("<m>", 5)};
    const auto tokenizer = tokenizer_of(definition);
    const Vocabulary& vocabulary = tokenizer->vocabulary();
    CHECK_NOTHROW(vocabulary.require_word_marks());
    const auto ends = [&](const char* token) { return vocabulary.ends_word(vocabulary.find(token).value()); };
    CHECK((ends("b</w>") && ends("ab</w>") && ends("<m>")));
    CHECK_FALSE((ends("a") || ends("b")));
    CHECK_FALSE(vocabulary.continues_word(5));
    definition["model"].erase("end_of_word_suffix");
    CHECK_THROWS_WITH(tokenizer_of(definition)->vocabulary().require_word_marks(),
                      Catch::Matchers::Contains("do not show where words begin or end"));
}

TEST_CASE("a BPE of characters has Metaspace's sign, or a normalizer's, where words begin") {
    json definition = character_definition({});
    definition["model"]["vocab"]["\u2581"] = 26;
    definition["normalizer"] = {{"type", "Sequence"},
                                {"normalizers",
                                 {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                                  {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}};
    definition["pre_tokenizer"] = nullptr;
    for (int written = 0; written < 2; ++written) {
        CHECK(pieces_of(definition, "a b") == Pieces{"\u2581", "a", "\u2581", "b"});
        const auto tokenizer = tokenizer_of(definition);
        CHECK_FALSE(tokenizer->keeps_spaces());  // a text begins as if a space stood before it
        CHECK(tokenizer->vocabulary().continues_word(0));
        CHECK_FALSE(tokenizer->vocabulary().continues_word(26));
        definition["normalizer"] = nullptr;
        definition["pre_tokenizer"] = {
            {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}, {"split", true}};
    }
}
