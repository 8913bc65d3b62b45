// The 43 test cases that google-research/bert, transformers and tokenizers publish with their code, collected in one file.

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/shared_data.h"
#include "text/utf8.h"
#include "tokenizer_support.h"
#include "tokens/unicode/unicode.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Strings = std::vector<std::string>;

namespace {

Casing casing_of(const nlohmann::json& row) {
    const bool lower = row.value("lower", false);
    if (row.value("strip_accents", lower)) return lower ? Casing::uncased : Casing::cased_without_accents;
    return lower ? Casing::uncased_with_accents : Casing::cased;
}

/// Returns a case's vocabulary: the tokens it lists, or those of the file it names first.
std::shared_ptr<const Vocabulary> vocabulary_of(const nlohmann::json& row) {
    if (row["vocab"].is_string()) {
        const std::string name = row["vocab"];
        return shared_vocabulary(name.substr(0, name.find(' ')));
    }
    Strings others;
    for (const std::string token : row["vocab"])
        if (std::find(std::begin(special_tokens), std::end(special_tokens), token) == std::end(special_tokens))
            others.push_back(token);
    return small_vocabulary(others);
}

void check_words(const nlohmann::json& row) {
    const Strings expected = row["expected"];
    if (row.contains("never_split")) {  // only whole tokenizers support it, with the words as their vocabulary
        Strings words = expected;
        for (const std::string_view special : special_tokens) std::erase(words, std::string(special));
        std::ranges::sort(words);
        words.erase(std::unique(words.begin(), words.end()), words.end());
        CHECK(tokens_of(WordPiece(small_vocabulary(words), casing_of(row)), row["input"]) == expected);
    } else {
        CHECK(words_of(row["input"], casing_of(row)) == expected);
    }
}

void check_pieces(const nlohmann::json& row) {
    const WordPiece wordpiece(vocabulary_of(row), casing_of(row));
    const Strings texts = row["input"].is_array() ? row["input"].get<Strings>() : Strings{row["input"]};
    Strings expected = row["expected"], got;
    std::erase_if(expected, [](const std::string& token) { return token == "[CLS]" || token == "[SEP]"; });
    for (const std::string& text : texts) std::ranges::copy(tokens_of(wordpiece, text), std::back_inserter(got));
    CHECK(got == expected);
}

void check_kind(const nlohmann::json& row) {
    const std::string function = row["fn"], input = row["input"];
    const CharacterKind asked = function == "is_whitespace" ? CharacterKind::space
                                : function == "is_control"  ? CharacterKind::dropped
                                                            : CharacterKind::punctuation;
    CHECK((character_kind(code_points_of(input).at(0), TokenRules::google) == asked) == row["expected"].get<bool>());
}

}  // namespace

TEST_CASE("all 43 published cases pass") {
    NEEDS_SHARED_DATA();
    int tried = 0;
    for (const auto& row : nlohmann::json::parse(std::ifstream(shared_data() / "tokenizer_cases" / "cases.json"))) {
        INFO(row["fn"] << " " << row["input"]);
        (row["fn"] == "basic" ? check_words : row.contains("vocab") ? check_pieces : check_kind)(row);
        ++tried;
    }
    CHECK(tried == 43);
}
