#include "tokens/words.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "tokens/unicode.h"

using namespace bertpretrain;
using bertpretrain::testing::shared_data;
using Strings = std::vector<std::string>;

namespace {

Strings split(const std::string& text, Casing casing = Casing::uncased) {
    Words words;
    words.split("left over from before", Casing::cased);
    words.split(text, casing);
    Strings list;
    for (std::size_t i = 0; i < words.size(); ++i) list.emplace_back(words[i]);
    return list;
}

std::string utf8(char32_t code_point) {
    std::string text;
    append_utf8(code_point, text);
    return text;
}

bool is_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

/// Membership of every code point in a file of "FIRST..LAST" lines.
std::vector<bool> read_ranges(const std::string& name) {
    std::vector<bool> members(0x110000);
    std::ifstream in(shared_data() / "unicode" / name);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        const std::size_t first = std::stoul(line, nullptr, 16), last = std::stoul(line.substr(line.find("..") + 2), nullptr, 16);
        std::fill(members.begin() + static_cast<std::ptrdiff_t>(first), members.begin() + static_cast<std::ptrdiff_t>(last + 1),
                  true);
    }
    return members;
}

}  // namespace

TEST_CASE("the published cases of basic tokenization hold") {
    NEEDS_SHARED_DATA();
    int tried = 0;
    for (const auto& row : nlohmann::json::parse(std::ifstream(shared_data() / "tokenizer_cases" / "cases.json"))) {
        if (row["fn"] != "basic" || row.contains("never_split")) continue;
        const bool lower = row["lower"];
        if (row.value("strip_accents", lower) != lower) continue;
        INFO(row["input"]);
        CHECK(split(row["input"], lower ? Casing::uncased : Casing::cased) == row["expected"].get<Strings>());
        ++tried;
    }
    CHECK(tried == 8);
}

TEST_CASE("control characters vanish and their neighbours meet") {
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

TEST_CASE("the length of a word is counted in code points") {
    Words words;
    words.split("ab" + utf8(0x3B1) + utf8(0x1F600) + "! " + utf8(0xAC01), Casing::uncased);
    REQUIRE(words.size() == 3);
    CHECK(words.code_points(0) == 4);
    CHECK(words.code_points(1) == 1);
    CHECK(words.code_points(2) == 3);
}

TEST_CASE("every code point is decoded from what encodes it, and surrogates, overlong and cut forms are not") {
    bool all_equal = true;
    for (char32_t c = 0; c < 0x110000; ++c) {
        if (is_surrogate(c)) continue;
        const std::string text = utf8(c);
        std::size_t position = 0;
        all_equal = all_equal && decode_utf8(text, position) == c && position == text.size();
    }
    CHECK(all_equal);
    for (const std::string bad :
         {"\xED\xA0\x80", "\xC0\x80", "\xE2\x82", "\x80", "\xFF", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80"}) {
        INFO(nlohmann::json(std::vector<unsigned char>(bad.begin(), bad.end())));
        CHECK(split("a" + bad + "b") == Strings{"ab"});
        CHECK(split("a" + bad) == Strings{"a"});
    }
}

TEST_CASE("lower case, decomposition and marks are those of Python's Unicode 14 tables") {
    NEEDS_SHARED_DATA();
    std::vector<std::u32string> expected(0x110000);
    for (char32_t c = 0; c < 0x110000; ++c) expected[c] = c;
    std::ifstream in(shared_data() / "unicode" / "lower_nfd_stripmn.tsv");
    std::size_t rows = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream fields(line);
        std::size_t code_point;
        fields >> std::hex >> code_point;
        expected[code_point].clear();
        for (std::size_t part; fields >> part;) expected[code_point].push_back(static_cast<char32_t>(part));
        ++rows;
    }
    CHECK(rows > 5000);
    std::vector<std::size_t> different;
    for (char32_t c = 0; c < 0x110000; ++c) {
        if (is_surrogate(c) || (c >= 0xAC00 && c <= 0xD7A3)) continue;
        std::u32string decomposed, got;
        append_decomposed(c, decomposed);
        for (const char32_t part : decomposed)
            if (!is_nonspacing_mark(part)) got.push_back(lower_case(part));
        if (got != expected[c]) different.push_back(c);
    }
    INFO(nlohmann::json(different));
    CHECK(different.size() <= 100);  // utf8proc knows later characters than Unicode 14
    CHECK(std::none_of(different.begin(), different.end(), [](std::size_t c) { return c < 0x800; }));
}

TEST_CASE("punctuation, white space and control are those of Python's Unicode 14 tables") {
    NEEDS_SHARED_DATA();
    const auto punctuation = read_ranges("punctuation.txt"), space = read_ranges("whitespace.txt"),
               control = read_ranges("control_google.txt");
    std::vector<std::size_t> different;
    for (char32_t c = 0; c < 0x110000; ++c) {
        const bool private_use = (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xF0000 && (c & 0xFFFF) <= 0xFFFD);
        const bool separator = c == 0x2028 || c == 0x2029;  // the reference splits at them later
        const CharacterKind kind = character_kind(c);
        const bool same = (kind == CharacterKind::punctuation) == punctuation[c] &&
                          (kind == CharacterKind::space) == (space[c] || separator) &&
                          (kind == CharacterKind::dropped) == (control[c] || private_use);
        if (!same && !is_surrogate(c)) different.push_back(c);
    }
    INFO(nlohmann::json(different));
    CHECK(different.size() <= 30);  // utf8proc knows later characters than Unicode 14
    CHECK(std::none_of(different.begin(), different.end(), [](std::size_t c) { return c < 0x10000; }));
}

TEST_CASE("words are those of Hugging Face's tokenizers, save for categories newer than Unicode 8") {
    const bertpretrain::testing::TemporaryFolder folder;
    bertpretrain::testing::write_text(folder / "words.py", R"(
import json, sys
try:
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
except ImportError:
    sys.exit(77)
blocks = [(1, 0x3130), (0x4DB0, 0x4E10), (0x9FF0, 0xA010), (0xABF0, 0xAC10), (0xFA00, 0x10000), (0x1D100, 0x1D200), (0x2B810, 0x2B930)]
for lower in (True, False):
    normalizer = BertNormalizer(lowercase=lower)
    for c in (c for first, end in blocks for c in range(first, end)):
        text = "aB" + chr(c) + "Cd" + chr(0x316) + chr(c) + chr(0x301)
        words = BertPreTokenizer().pre_tokenize_str(normalizer.normalize_str(text))
        print(json.dumps([lower, c, text, [word for word, place in words]]))
)");
    const auto result = bertpretrain::testing::run_command(PYTHON " " + (folder / "words.py").string());
    if (result.exit_code != 0) {
        WARN("skipped: no Python with the package tokenizers: " << result.err);
        return;
    }
    std::istringstream rows(result.out);
    std::size_t tried = 0;
    std::vector<std::uint32_t> different;
    for (std::string line; std::getline(rows, line); ++tried) {
        const auto row = nlohmann::json::parse(line);
        if (split(row[2], row[0] ? Casing::uncased : Casing::cased) != row[3].get<Strings>()) different.push_back(row[1]);
    }
    INFO(nlohmann::json(different));
    CHECK(tried > 25000);
    CHECK(different.size() <= 200);
    CHECK(std::none_of(different.begin(), different.end(), [](std::uint32_t c) { return c < 0x600; }));
}
