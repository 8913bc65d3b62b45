#include "tokens/models/words.h"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"
#include "text/utf8.h"
#include "tokenizer_support.h"
#include "tokens/unicode/unicode.h"

using namespace bertpretrain;
using Strings = std::vector<std::string>;

namespace {

Strings split(const std::string& text, Casing casing = Casing::uncased) { return bertpretrain::testing::words_of(text, casing); }

std::string utf8(char32_t code_point) {
    std::string text;
    append_code_point(text, code_point);
    return text;
}

bool is_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

/// What Python's Unicode tables say of a code point; unassigned ones have no kind.
struct PythonCharacter {
    std::string kind, form;
};

/// By code point; empty where there is no Python.
const std::vector<PythonCharacter>& python_characters() {
    static const std::vector<PythonCharacter> characters = [] {
        std::vector<PythonCharacter> all;
        const auto printed = bertpretrain::testing::run_command(PYTHON " tests/tokens/python_unicode.py");
        if (printed.exit_code != 0) return all;
        all.resize(0x110000);
        std::istringstream lines(printed.out);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream fields(line);
            std::size_t code_point;
            fields >> std::hex >> code_point;
            PythonCharacter& character = all.at(code_point);
            fields >> character.kind;
            for (std::size_t part; fields >> part;) character.form += utf8(static_cast<char32_t>(part));
        }
        return all;
    }();
    return characters;
}

}  // namespace

TEST_CASE("control characters are removed without splitting the word") {
    CHECK(split(std::string("a\0b\x7F\x1C", 5) + utf8(0x85) + utf8(0x200E) + utf8(0xE000) + utf8(0xFFFD) + "c") ==
          Strings{"abc"});
    CHECK(split("a\tb\nc\rd" + utf8(0xA0) + "e" + utf8(0x2028) + "f" + utf8(0x3000)) == Strings{"a", "b", "c", "d", "e", "f"});
}

TEST_CASE("a character that decomposes into punctuation is punctuation, in uncased text only") {
    CHECK(split("a" + utf8(0x226F) + "b") == Strings{"a", ">", "b"});
    CHECK(split("a" + utf8(0x226F) + "b", Casing::cased) == Strings{"a" + utf8(0x226F) + "b"});
}

TEST_CASE("marks that remain are put into canonical order") {
    const std::string low_first = utf8(0x1D165) + utf8(0x302E), high_first = utf8(0x302E) + utf8(0x1D165);
    CHECK(split("e" + low_first) == split("e" + high_first));
    CHECK(split("e" + low_first, Casing::cased) != split("e" + high_first, Casing::cased));
}

TEST_CASE("every code point is decoded from its encoding, and surrogates, overlong and truncated forms are dropped") {
    bool all_equal = true;
    for (char32_t c = 0; c < 0x110000; ++c) {
        if (is_surrogate(c)) continue;
        const std::string text = utf8(c);
        std::size_t position = 0;
        all_equal = all_equal && next_code_point(text, position) == c && position == text.size();
    }
    CHECK(all_equal);
    for (const std::string bad :
         {"\xED\xA0\x80", "\xC0\x80", "\xE2\x82", "\x80", "\xFF", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80"}) {
        INFO(nlohmann::json(std::vector<unsigned char>(bad.begin(), bad.end())));
        CHECK(split("a" + bad + "b") == Strings{"ab"});
        CHECK(split("a" + bad) == Strings{"a"});
    }
}

TEST_CASE("lower case, decomposition and marks equal Python's Unicode 14 tables", "[system]") {
    const std::vector<PythonCharacter>& expected = python_characters();
    if (expected.empty()) SKIP_TEST(bertpretrain::testing::skip::no_oracle, "no Python");
    const CharacterTable& table = CharacterTable::of(Casing::uncased, TokenRules::google);
    std::vector<std::size_t> different;
    std::size_t compared = 0;
    for (char32_t c = 0; c < 0x110000; ++c) {
        const Character& character = table[c];
        const bool is_word = character.kind != CharacterKind::dropped && character.kind != CharacterKind::space;
        if (expected[c].kind.empty() || (c >= 0xAC00 && c <= 0xD7A3) || character.in_context || !is_word) continue;
        ++compared;
        if (character.form() != expected[c].form) different.push_back(c);
    }
    INFO(nlohmann::json(different));
    CHECK(compared > 100'000);
    CHECK(different.size() <= 100);  // utf8proc and Python may know different versions of Unicode
    CHECK(std::none_of(different.begin(), different.end(), [](std::size_t c) { return c < 0x800; }));
}

TEST_CASE("punctuation, white space and control characters equal Python's Unicode 14 tables") {
    const std::vector<PythonCharacter>& expected = python_characters();
    if (expected.empty()) SKIP_TEST(bertpretrain::testing::skip::no_oracle, "no Python");
    const auto name_of = [](CharacterKind kind) {
        return kind == CharacterKind::punctuation ? "punctuation"
               : kind == CharacterKind::space     ? "space"
               : kind == CharacterKind::dropped   ? "dropped"
                                                  : "word";
    };
    std::vector<std::size_t> different;
    for (char32_t c = 0; c < 0x110000; ++c) {
        const bool separator = c == 0x2028 || c == 0x2029;  // the reference splits at them later
        if (expected[c].kind.empty() || separator) continue;
        if (name_of(character_kind(c, TokenRules::google)) != expected[c].kind) different.push_back(c);
    }
    INFO(nlohmann::json(different));
    CHECK(different.size() <= 30);  // utf8proc and Python may know different versions of Unicode
    CHECK(std::none_of(different.begin(), different.end(), [](std::size_t c) { return c < 0x10000; }));
}
