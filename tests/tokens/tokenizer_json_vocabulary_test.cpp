// What a vocabulary knows of the tokens of a tokenizer.json.

#include <algorithm>

#include "core/error.h"
#include "definition_support.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// Two merges, then RoBERTa's special tokens with ids from 258 on.
json with_roles(std::vector<std::string> names = {"<s>", "<pad>", "</s>", "<mask>"}) {
    json definition = byte_level_definition({{" ", "a"}, {"b", "c"}});
    for (std::size_t i = 0; i < names.size(); ++i)
        definition["added_tokens"].push_back(added_token(names[i], static_cast<std::int32_t>(258 + i)));
    return definition;
}

Vocabulary vocabulary_in(const json& definition) {
    return {read_tokenizer_json(definition.dump(), "tokenizer.json"), "tokenizer.json"};
}

}  // namespace

TEST_CASE("roles are found by the usual names, wherever their ids are") {
    const SpecialIds ids = vocabulary_in(with_roles()).require_specials().specials();
    CHECK(ids.cls == 258);
    CHECK(ids.pad == 259);
    CHECK(ids.sep == 260);
    CHECK(ids.mask == 261);
    CHECK(ids.unk == SpecialIds::none);
}

TEST_CASE("a tokenizer.json without a token for a role is refused by one message with that role and the names looked for") {
    const Vocabulary lacks_mask = vocabulary_in(with_roles({"<s>", "<pad>", "</s>"}));
    CHECK_THROWS_AS(lacks_mask.require_specials(), ConfigError);
    CHECK_THROWS_WITH(lacks_mask.require_specials(),
                      Contains("tokenizer.json: has no token for the role mask (looked for [MASK], <mask>, <|mask|>)"));
    CHECK_THROWS_WITH(vocabulary_in(with_roles({"<|endoftext|>"})).require_specials(),
                      Contains("the roles pad (looked for [PAD]") && Contains("cls (looked for") && Contains("mask"));
}

TEST_CASE("in byte-level BPE a token continues a word unless it begins with white space or was added") {
    const Vocabulary vocabulary = vocabulary_in(with_roles());
    const auto continues = [&](const std::string& bytes) {
        return vocabulary.continues_word(vocabulary.find(token_of_bytes(bytes)).value());
    };
    CHECK(continues("bc"));
    CHECK(continues("."));
    CHECK(continues("\xA9"));
    CHECK_FALSE(continues(" a"));
    CHECK_FALSE(continues(" "));
    CHECK_FALSE(continues("\n"));
    CHECK_FALSE(vocabulary.continues_word(258));
}

TEST_CASE("in WordPiece a token continues a word if it begins with ##") {
    const Vocabulary vocabulary =
        vocabulary_in(word_piece_definition({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b"}));
    CHECK_FALSE(vocabulary.continues_word(5));
    CHECK(vocabulary.continues_word(6));
}

TEST_CASE("random replacements are all tokens of a tokenizer.json but the special ones, and all of a list of tokens") {
    json definition = with_roles();
    definition["added_tokens"].push_back(added_token("<x>", 262));
    definition["added_tokens"].push_back(added_token("plain", 263, {{"special", false}}));
    std::vector<std::int32_t> expected(258);
    for (std::size_t id = 0; id < expected.size(); ++id) expected[id] = static_cast<std::int32_t>(id);
    expected.push_back(263);
    CHECK(vocabulary_in(definition).replacements() == expected);
    const Vocabulary list({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"}, "list");
    CHECK(list.replacements() == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
    CHECK_FALSE(list.has_own_rules());
}
