#include "text/reader/read_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"
#include "text/content/text_content.h"
#include "text/line_ends.h"
#include "text/white_space.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace std::string_literals;
using Catch::Matchers::Contains;

namespace {

/// Gives the bytes in pieces of one size, as a pipe may.
class InPieces : public Content {
public:
    InPieces(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
    std::size_t read(char* into, std::size_t size) override {
        const std::size_t count = bytes_.copy(into, std::min(size, piece_), used_);
        used_ += count;
        return count;
    }
    std::uint64_t bytes_read() const override { return used_; }

private:
    std::string bytes_;
    std::size_t piece_, used_ = 0;
};

std::string text_in_pieces(const std::string& bytes, std::size_t piece) {
    TextContent content(std::make_unique<InPieces>(bytes, piece), Utf8Check("pieces"));
    std::string text;
    std::array<char, 64> buffer{};
    while (const std::size_t count = content.read(buffer.data(), buffer.size())) text.append(buffer.data(), count);
    return text;
}

std::string refusal_of_bytes(const std::string& bytes) {
    try {
        return "no failure: " + text_of_bytes(bytes, "a.txt");
    } catch (const DataError& error) { return error.what(); }
}

std::string output_of_python(const std::string& program) {
    std::FILE* const pipe = ::popen((std::string(PYTHON) + " -c '" + program + "'").c_str(), "r");
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
    return ::pclose(pipe) == 0 ? output : "python failed";
}

}  // namespace

TEST_CASE("LF, CR LF and CR end a line, however the bytes arrive") {
    for (std::size_t piece = 1; piece < 12; ++piece) {
        CAPTURE(piece);
        CHECK(text_in_pieces("a\r\nb\rc\nd\r\r\n\n\re\r", piece) == "a\nb\nc\nd\n\n\n\ne\n");
        CHECK(text_in_pieces("\xEF\xBB\xBF\r\n\xC3\xA4\r", piece) == "\n\xC3\xA4\n");
        CHECK(text_in_pieces("\xEF\xBB\xBF", piece).empty());
        CHECK(text_in_pieces("\xEF\xBB\xBF\xEF\xBB\xBF", piece) == "\xEF\xBB\xBF");
    }
    std::vector<std::string> lines;
    for_each_universal_line("a\r\n\rb\n\nc\r", [&](std::string_view line) { lines.emplace_back(line); });
    CHECK(lines == std::vector<std::string>{"a", "", "b", "", "c"});
}

TEST_CASE("a byte order mark of UTF-8, UTF-16 or UTF-32 decides how a text is read") {
    const std::string text = "K\xC3\xA4se\n\xF0\x9F\x98\x80\n";
    CHECK(text_of_bytes("\xEF\xBB\xBFK\xC3\xA4se\r\n\xF0\x9F\x98\x80\r", "a") == text);
    CHECK(text_of_bytes("\xFF\xFEK\0\xE4\0s\0e\0\r\0\n\0\x3D\xD8\0\xDE\n\0"s, "a") == text);
    CHECK(text_of_bytes("\xFE\xFF\0K\0\xE4\0s\0e\0\r\xD8\x3D\xDE\0\0\n"s, "a") == text);
    CHECK(text_of_bytes("\xFF\xFE\0\0K\0\0\0\xE4\0\0\0\n\0\0\0"s, "a") == "K\xC3\xA4\n");
    CHECK(text_of_bytes("\0\0\xFE\xFF\0\0\0K\0\0\0\xE4\0\0\0\r"s, "a") == "K\xC3\xA4\n");
    CHECK(text_of_bytes("\xFF\xFE"s, "a").empty());
    CHECK_THAT(refusal_of_bytes("\xFF\xFEK\0\0\xDC"s),
               Contains("a.txt: byte 4 is not UTF-16LE, which its byte order mark names"));
    CHECK_THAT(refusal_of_bytes("\xFF\xFEK\0\xE4"s), Contains("ends in the middle of a character of UTF-16LE, at byte 4"));
}

TEST_CASE("an empty line is what Python's str.strip() makes empty") {
    std::string expected;
    for (char32_t c = 0; c < 0x11000; ++c)
        if (is_white_space(c)) expected += std::to_string(static_cast<std::uint32_t>(c)) + "\n";
    CHECK(output_of_python("for c in range(0x110000):\n  if not chr(c).strip(): print(c)") == expected);
    CHECK(is_blank_line(""));
    CHECK(is_blank_line(" \t\xE3\x80\x80\xC2\xA0\x1F"));
    CHECK_FALSE(is_blank_line("\xE3\x80\x80\xE2\x80\x8B"));  // a zero width space is none
    CHECK_FALSE(is_blank_line("\xE3\x80"));
    CHECK(stripped("\xE3\x80\x80 a \xE3\x80\x80 b\xC2\x85\r") == "a \xE3\x80\x80 b");
    CHECK(stripped("\xE3\x80\x80").empty());
    CHECK(stripped("\x80 \xE4") == "\x80 \xE4");
}

TEST_CASE("text can be divided between characters") {
    CHECK(whole_characters("ab") == 2);
    CHECK(whole_characters("a\xC3") == 1);
    CHECK(whole_characters("a\xE3\x80") == 1);
    CHECK(whole_characters("\xE3\x80\x80") == 3);
    CHECK(whole_characters("\xF0\x9F\x98") == 0);
    CHECK(whole_characters("\xC3\xA4\x80\x80\x80\x80") == 6);
}

TEST_CASE("lines are read one by one, as Python's open() gives them") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", "\xEF\xBB\xBFone\r\n\r\ntwo\rthree\xE2\x80\xA8three\n\nlast");
    TextLines lines(folder / "a.txt");
    std::vector<std::string> read;
    for (std::string line; lines.next(line);) read.push_back(line);
    CHECK(read == std::vector<std::string>{"one", "", "two", "three\xE2\x80\xA8three", "", "last"});
    CHECK(output_of_python("print(open(\"" + (folder / "a.txt").string() + "\", encoding=\"utf-8-sig\").read(), end=\"\")") ==
          read_text_file(folder / "a.txt"));
    CHECK_THROWS_WITH(TextLines(folder.path()), Contains("is a folder, expected a file"));
    CHECK_THROWS_WITH(TextLines(folder / "none"), Contains("No such file"));
}

TEST_CASE("a line may be far longer than what is read at once") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", std::string(300'000, 'a') + "\n" + std::string(200'000, 'b'));
    TextLines lines(folder / "a.txt");
    std::string line;
    REQUIRE(lines.next(line));
    CHECK(line == std::string(300'000, 'a'));
    REQUIRE(lines.next(line));
    CHECK(line == std::string(200'000, 'b'));
    CHECK_FALSE(lines.next(line));
}

TEST_CASE("the advice about a byte that is not UTF-8 helps and leaves the rest as it is") {
    const TemporaryFolder folder;
    write_text(folder / "a", "Fl\xC3\xBCsse\n\xFF\xC3\xA4");
    const std::string clean = (folder / "clean").string();
    CHECK_THROWS_WITH(read_text_file(folder / "a"), Contains("iconv -f UTF-8 -t UTF-8 -c FILE > CLEAN"));
    CHECK(std::system(("iconv -f UTF-8 -t UTF-8 -c " + (folder / "a").string() + " > " + clean + " 2> /dev/null").c_str()) != -1);
    CHECK(read_text_file(clean) == "Fl\xC3\xBCsse\n\xC3\xA4");
}
