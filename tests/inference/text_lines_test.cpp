#include "inference/text_lines.h"

#include "archive/checksum.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::string refusal_of_file(const std::filesystem::path& file) {
    try {
        survey_text(file);
    } catch (const DataError& error) { return error.what(); }
    return "no refusal";
}

}  // namespace

TEST_CASE("parts of a text contain every line once, in order, also empty lines and a last one without a line end") {
    const TemporaryFolder folder;
    const std::string content = "one\n\nthree\nfour is longer\n\nsix";
    write_text(folder / "text", content);
    const std::vector<std::string> right{"one", "", "three", "four is longer", "", "six"};
    for (const std::int64_t lines : {1, 2, 4, 100}) {
        const TextSurvey text = survey_text(folder / "text", {lines, 1000});
        CAPTURE(lines);
        CHECK(text.lines == 6);
        CHECK(text.bytes == content.size());
        CHECK(text.crc32 == crc32_of(std::as_bytes(std::span(content))));
        std::vector<std::string> found;
        for (const TextPart& part : text.parts) {
            CHECK(part.first_line == static_cast<std::int64_t>(found.size()));
            CHECK(part.lines <= lines);
            for (const std::string& line : read_lines(text, part)) found.push_back(line);
        }
        CHECK(found == right);
    }
    CHECK(survey_text(folder / "text", {100, 10}).parts.size() == 3);  // a part ends when it has 10 bytes
}

TEST_CASE("a text that is not UTF-8 is refused by its byte, as a corpus is") {
    const TemporaryFolder folder;
    write_text(folder / "text", "fine\nna\xC3\xAFve \xEF\xBF\xBD\ncaf\xE9 au lait\n");
    CHECK_THAT(refusal_of_file(folder / "text"), Catch::Contains("text: byte 19 is not UTF-8"));
    write_text(folder / "text", "cut short \xE2\x82");
    CHECK_THAT(refusal_of_file(folder / "text"), Catch::Contains("text: byte 10 is not UTF-8"));
}

TEST_CASE("lines that end with CR LF are those of LF") {
    const TemporaryFolder folder;
    write_text(folder / "text", "one\r\n\r\nthree\nfour\r\n");
    std::vector<std::string> lines;
    const TextSurvey text = survey_text(folder / "text", {2, 1000});
    for (const TextPart& part : text.parts)
        for (const std::string& line : read_lines(text, part)) lines.push_back(line);
    CHECK(lines == std::vector<std::string>{"one", "", "three", "four"});
    CHECK_FALSE(text.must_convert);
}

TEST_CASE("a text with a byte order mark, or with lines that end with CR, is surveyed after its conversion") {
    const TemporaryFolder folder;
    for (const std::string& content : {std::string("\xEF\xBB\xBF"
                                                   "one\ntwo\n"),
                                       std::string("one\rtwo\r\n"), std::string("\xFE\xFF\0o\0n\0e\0\r\0t\0w\0o", 16)}) {
        write_text(folder / "text", content);
        CHECK(survey_text(folder / "text").must_convert);
        std::ofstream out(folder / "converted", std::ios::binary);
        write_as_lines(folder / "text", out);
        out.close();
        const TextSurvey text = survey_text(folder / "converted");
        CHECK_FALSE(text.must_convert);
        CHECK(read_lines(text, text.parts.front()) == std::vector<std::string>{"one", "two"});
    }
}

TEST_CASE("a file that is no plain text is refused with its format") {
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
    CHECK_THAT(refusal_of_file(folder / "a.jsonl"), Catch::Contains("a.jsonl: is JSON") && Catch::Contains("one text per line"));
}

TEST_CASE("a text without lines, and one that does not exist, are refused by name") {
    const TemporaryFolder folder;
    write_text(folder / "empty", "");
    CHECK(refusal_of_file(folder / "empty").find("has no lines") != std::string::npos);
    CHECK(refusal_of_file(folder / "nowhere").find("nowhere: cannot be read") != std::string::npos);
}

TEST_CASE("a text that changes while it is read is refused") {
    const TemporaryFolder folder;
    write_text(folder / "text", "one\ntwo\n");
    const TextSurvey text = survey_text(folder / "text");
    write_text(folder / "text", "one\n");
    CHECK_THROWS_AS(read_lines(text, text.parts.front()), DataError);
}
