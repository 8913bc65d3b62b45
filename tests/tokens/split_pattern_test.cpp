// Matches of the regular expressions that published tokenizers use.

#include "tokens/definition/split_pattern.h"

#include "support/catch.h"

using namespace bertpretrain;
using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

namespace {

Words matches_of(const std::string& expression, const std::string& text) {
    const SplitPattern pattern(expression, "test");
    Words words;
    std::string memory;
    pattern.for_each_match(text, memory,
                           [&](std::size_t begin, std::size_t end) { words.push_back(text.substr(begin, end - begin)); });
    return words;
}

const std::string gpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const std::string llama =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

TEST_CASE("GPT-2's expression splits words, numbers, marks and white space") {
    CHECK(matches_of(gpt2, "Hello world's  12a!?") == Words{"Hello", " world", "'s", " ", " 12", "a", "!?"});
    CHECK(matches_of(gpt2, "a   ") == Words{"a", "   "});
    CHECK(matches_of(gpt2, "\xC3\xA4\xE4\xB8\xAD \xF0\x9F\x98\x80") == Words{"\xC3\xA4\xE4\xB8\xAD", " \xF0\x9F\x98\x80"});
}

TEST_CASE("Llama's expression ignores the case of contractions and cuts numbers after three digits") {
    CHECK(matches_of(llama, "IT'S 12345!\n\n x") == Words{"IT", "'S", " ", "123", "45", "!\n\n", " x"});
    CHECK(matches_of(llama, "'\xC5\xBF") == Words{"'\xC5\xBF"});  // the long s is an s in another case
}

TEST_CASE("a match gives characters back only if it is not possessive") {
    CHECK(matches_of("a+ab", "aaab") == Words{"aaab"});
    CHECK(matches_of("a++ab|b", "aaab") == Words{"b"});
    CHECK(matches_of("a{2,3}", "aaaaaaa") == Words{"aaa", "aaa"});
    CHECK(matches_of("(?:ab|a)(c|bd)?", "abd") == Words{"ab"});
    CHECK(matches_of("x(?=y)", "xxy") == Words{"x"});
    CHECK(matches_of("\xC3\xA9*b",
                     "\xC3\xA9\xC3\xA9"
                     "b\xC3\xA9") == Words{"\xC3\xA9\xC3\xA9"
                                           "b"});
}

TEST_CASE("superscripts and fractions of Latin-1 are word characters, except within brackets, as in oniguruma") {
    for (const std::string text : {"\u00B2", "\u00B3", "\u00B9", "\u00BC", "\u00BD", "\u00BE"}) {
        for (const char* expression : {R"(\w)", R"([^\w\s])", R"([\W])"}) CHECK(matches_of(expression, text) == Words{text});
        for (const char* expression : {R"(\W)", R"([\w])", R"([^\W])"}) CHECK(matches_of(expression, text).empty());
    }
    CHECK(matches_of(R"([^\w\s]+)", "a\u00B2b, c") == Words{"\u00B2", ","});
}

TEST_CASE("sets hold ranges, categories, escapes and their complements") {
    CHECK(matches_of("[a-c\\-\\]\\p{Lu}]+", "ab-]Zd") == Words{"ab-]Z"});
    CHECK(matches_of("[^\\P{L}x]+", "axb1") == Words{"a", "b"});
    CHECK(matches_of("[\\S]+",
                     "a \xE3\x80\x80"
                     "b") == Words{"a", "b"});
    CHECK(matches_of("[-a]+.", "-a\n-ab") == Words{"-a", "-ab"});
    CHECK(matches_of("\\x{E9}|\\x41",
                     "\xC3\xA9"
                     "A") == Words{"\xC3\xA9", "A"});
}

TEST_CASE("letters that ignore case are refused where one character is equal to two of them, across groups and escapes") {
    for (const char* expression :
         {"(?i:ss)", "(?i:s(?:s))", "(?i:(?:a|s)t)", "(?i:s{1}t)", R"((?i:s\x{74}))", R"((?i:\x66i))", "(?i:f(?i:L))"})
        CHECK_THROWS_WITH(SplitPattern(expression, "test"), Contains("in (?i:...)"));
    CHECK(matches_of(R"((?i:\x73a|s|t|s+t))",
                     "Sa \xC5\xBF"
                     "A sst") == Words{"Sa",
                                       "\xC5\xBF"
                                       "A",
                                       "s", "s", "t"});
}

TEST_CASE("groups that are nested without an end are refused, however deep they are") {
    const auto nested = [](std::size_t groups) {
        std::string expression;
        for (std::size_t i = 0; i < groups; ++i) expression += "(?:";
        return expression + "a" + std::string(groups, ')');
    };
    CHECK(matches_of(nested(50), "aa") == Words{"a", "a"});
    for (const std::size_t groups : {std::size_t{51}, std::size_t{100'000}})
        CHECK_THROWS_WITH(SplitPattern(nested(groups), "test"), Contains("a group nested so deep"));
}

TEST_CASE("a lookahead that is optional is refused, as in oniguruma, but not one with characters after it") {
    for (const char* expression : {"a(?:b|(?!c))?", "a(?:(?=b))?", "a(?:b|(?:(?!c)(?=d)))?"})
        CHECK_THROWS_WITH(SplitPattern(expression, "test"), Contains("an optional lookahead"));
    CHECK(matches_of("a(?:(?=b).)?", "ab ac") == Words{"ab", "a"});
}
