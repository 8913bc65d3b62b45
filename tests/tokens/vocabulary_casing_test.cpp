#include "tokens/models/vocabulary_casing.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/golden.h"
#include "tokenizer_support.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

Vocabulary vocabulary_with(std::vector<std::string> tokens) {
    tokens.insert(tokens.begin(), {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]"});
    return {tokens, "v.txt"};
}

/// Returns the casing that is chosen, or the refusal.
std::string chosen(const Vocabulary& vocabulary, bool wants_cased) {
    try {
        return casing_name(choose_casing(vocabulary, "v.txt", wants_cased));
    } catch (const ConfigError& error) { return error.what(); }
}

const Vocabulary uncased_tokens = vocabulary_with({"the", "cat", "##s", "strasse", ".", "1", "日", "ж"});
const Vocabulary cased_tokens = vocabulary_with({"the", "The", "cat", "##s", "##É", ".", "1"});
const Vocabulary chinese_tokens = vocabulary_with({"日", "本", "国", "。", "1"});
const Vocabulary hindi_tokens = vocabulary_with({"दिल्ली", "है", "##ी", "।", "1"});

}  // namespace

TEST_CASE("a vocabulary's casing is that of its ordinary tokens") {
    const TokenCasing found = casing_of(cased_tokens);
    CHECK(found.tokens == 7);
    CHECK(found.cased_only == 2);
    CHECK(found.capitals == 2);
    CHECK(found.letters == 5);
    CHECK(found.is_cased());
    CHECK_FALSE(found.is_uncased());
    CHECK(casing_of(uncased_tokens).is_uncased());
    CHECK_FALSE(casing_of(uncased_tokens).is_cased());
    CHECK(casing_of(Vocabulary::read(golden_sample("vocab.txt"))).is_uncased());
    for (const Vocabulary& without_capitals : {chinese_tokens, hindi_tokens}) {
        CHECK_FALSE(casing_of(without_capitals).is_cased());
        CHECK_FALSE(casing_of(without_capitals).is_uncased());
    }
    CHECK(casing_of(hindi_tokens).cased_only == 2);
    CHECK(casing_of(hindi_tokens).capitals == 0);
}

TEST_CASE("text is read as the vocabulary is cased, and cased text is refused for an uncased one") {
    CHECK(chosen(cased_tokens, false) == "cased");
    CHECK(chosen(cased_tokens, true) == "cased");
    CHECK(chosen(uncased_tokens, false) == "uncased");
    CHECK(chosen(uncased_tokens, true) ==
          "config error: v.txt: is an uncased vocabulary: 0 of its 8 tokens have capital letters or accents, so that words with "
          "them would become [UNK]\n  do: omit --cased, or use a cased vocabulary");
    for (const Vocabulary& without_capitals : {chinese_tokens, hindi_tokens}) {
        CHECK(chosen(without_capitals, false) == "uncased");
        CHECK(chosen(without_capitals, true) == "cased");
    }
}

TEST_CASE("one capital letter among many tokens does not make a vocabulary cased, nor does it forbid cased text") {
    std::vector<std::string> tokens{"İ"};
    for (int i = 0; i < 100; ++i) tokens.push_back("a" + std::to_string(i));
    CHECK(chosen(vocabulary_with(tokens), false) == "uncased");
    CHECK(chosen(vocabulary_with(tokens), true) == "cased");
    for (int i = 100; i < 500; ++i) tokens.push_back("a" + std::to_string(i));
    CHECK(chosen(vocabulary_with(tokens), true) != "cased");
}
