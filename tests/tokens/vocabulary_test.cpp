#include "tokens/vocabulary/vocabulary.h"

#include <cstdlib>

#include "core/error.h"
#include "core/files/files.h"
#include "support/catch.h"
#include "support/files.h"
#include "tokens/vocabulary/vocabulary_file.h"

using namespace bertpretrain;
using bertpretrain::testing::TemporaryFolder;
using bertpretrain::testing::write_text;
using Catch::Matchers::Contains;

namespace {

const std::string five = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

/// True if reading a file with this content fails with this message.
bool fails_with(const std::string& content, const std::string& words) {
    const TemporaryFolder folder;
    write_text(folder / "vocab.txt", content);
    try {
        Vocabulary::read(folder / "vocab.txt");
    } catch (const DataError& error) {
        UNSCOPED_INFO(error.what());
        return std::string(error.what()).find(words) != std::string::npos;
    }
    return false;
}

}  // namespace

TEST_CASE("a token's id is its line, counted from 0, and white space at a line's end is not part of it") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.txt", "the\r\n[UNK]\n[CLS]\t \n[SEP]\n[MASK]\n[PAD]\n\xC3\xA9\n##s");
    const Vocabulary vocabulary = Vocabulary::read(folder / "vocab.txt");
    CHECK(vocabulary.size() == 8);
    CHECK(vocabulary.find("the") == 0);
    CHECK(vocabulary.find("\xC3\xA9") == 6);
    CHECK(vocabulary.find("##s") == 7);
    CHECK_FALSE(vocabulary.find("s").has_value());
    CHECK(vocabulary.token(0) == "the");
    CHECK_THROWS_AS(vocabulary.token(8), std::out_of_range);
    CHECK_THROWS_AS(vocabulary.token(-1), std::out_of_range);
    const SpecialIds ids = vocabulary.specials();
    CHECK(std::vector{ids.pad, ids.unk, ids.cls, ids.sep, ids.mask} == std::vector{5, 1, 2, 3, 4});
}

TEST_CASE("a vocabulary is read as other text: with a byte order mark, any line ends, and no byte that is not UTF-8") {
    const TemporaryFolder folder;
    const auto tokens_of = [&](const std::string& content) {
        write_text(folder / "vocab.txt", content);
        return Vocabulary::read(folder / "vocab.txt").tokens();
    };
    const std::vector<std::string> expected = tokens_of(five + "m\xC3\xB6we\n");
    CHECK(tokens_of("\xEF\xBB\xBF" + five + "m\xC3\xB6we\n") == expected);
    CHECK(tokens_of("[PAD]\r[UNK]\r[CLS]\r\n[SEP]\r\n[MASK]\nm\xC3\xB6we") == expected);
    std::string wide = "\xFF\xFE";
    for (const char c : five + "a\n") wide.append({c, '\0'});
    CHECK(tokens_of(wide).back() == "a");
    CHECK(fails_with(five + "m\xF6we\n", "vocab.txt: byte 32 is not UTF-8 (0xF6)"));
}

TEST_CASE("a vocabulary that is not UTF-8 can be converted by the command that its message names") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.txt", five + "m\xF6we\nf\xFCr\n\xE4hre\n");
    CHECK(fails_with(testing::read_text(folder / "vocab.txt"), "`iconv -f latin1 -t UTF-8 FILE > CONVERTED`"));
    const std::string file = (folder / "vocab.txt").string(), converted = (folder / "converted.txt").string();
    REQUIRE(std::system(("iconv -f latin1 -t UTF-8 " + file + " > " + converted).c_str()) == 0);
    CHECK(Vocabulary::read(converted).find("m\xC3\xB6we") == 5);
}

TEST_CASE("a folder, and a file that is no tokenizer, are named instead of read as tokens") {
    const TemporaryFolder folder;
    const auto refusal = [](const std::filesystem::path& file) {
        try {
            Vocabulary::read(file);
        } catch (const DataError& error) { return std::string(error.what()); }
        return std::string("read");
    };
    CHECK_THAT(refusal(folder.path()), Contains("is a folder") && Contains("has none under its usual name"));
    write_text(folder / "vocab.txt", five);
    CHECK_THAT(refusal(folder.path()), Contains("do: name the file in it: " + (folder / "vocab.txt").string()));
    for (const auto& [content, name] : std::vector<std::pair<std::string, std::string>>{
             {"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", "a Git LFS pointer"},
             {"\x1F\x8B\x08", "compressed with gzip"},
             {"<!DOCTYPE html>\n<html>\n", "an HTML page"},
             {"PK\3\4", "a zip archive"},
             {"", "empty"}}) {
        write_text(folder / "vocab.txt", content);
        CHECK_THAT(refusal(folder / "vocab.txt"), Contains("vocab.txt: is " + name) && Contains("do: "));
    }
    write_text(folder / "text.txt", "The cat sat on a mat.\nIt slept.\n\nThe end.\n");
    CHECK_THAT(
        refusal(folder / "text.txt"),
        Contains("text.txt: looks like running text (\"The cat sat on a mat.\"), expected a vocabulary") && Contains("do: "));
    write_text(folder / "vocab.txt", "\xEF\xBB\xBF{\"model\": {}}");
    CHECK_THAT(refusal(folder / "vocab.txt"), Contains("begins with a byte order mark of UTF-8"));
}

TEST_CASE("a written vocabulary reads back equal, and its CRC is that of the written file") {
    const TemporaryFolder folder;
    const Vocabulary vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b"}, "test");
    vocabulary.write(folder / "vocab.txt");
    CHECK(testing::read_text(folder / "vocab.txt") == five + "a\n##b\n");
    CHECK(Vocabulary::read(folder / "vocab.txt").tokens() == vocabulary.tokens());
    CHECK(vocabulary.crc32() == crc32_of_file(folder / "vocab.txt"));
    CHECK(vocabulary.crc32() != Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a##b"}, "test").crc32());
}

TEST_CASE("an invalid vocabulary is refused, and the message names the lines") {
    CHECK(fails_with(five + "a\nb\na\n", "vocab.txt: lines 6 and 8 contain the same token \"a\""));
    CHECK(fails_with("[PAD]\n[UNK]\n[CLS]\n[MASK]\n", "the token [SEP] is missing"));
    CHECK(fails_with(five + "a\n \nb\n", "line 7 is empty"));
    CHECK(fails_with("", "is empty"));
    CHECK_THROWS_AS(Vocabulary::read("/nonexistent/vocab.txt"), DataError);
    CHECK_THROWS_AS(Vocabulary::read(std::filesystem::temp_directory_path()), DataError);
}

TEST_CASE("an export carries a list of tokens without its byte order mark, and other files byte for byte") {
    const TemporaryFolder folder;
    const std::string tokens = "[PAD]\r\n[UNK]\r\n";
    write_text(folder / "marked.txt", "\xEF\xBB\xBF" + tokens);
    write_text(folder / "plain.txt", tokens);
    CHECK(carried_content(folder / "marked.txt") == "[PAD]\n[UNK]\n");
    CHECK(carried_content(folder / "plain.txt") == tokens);
    CHECK(tokenizer_file(folder / "marked.txt").content == read_text(folder / "marked.txt"));
    CHECK(tokenizer_file(folder / "marked.txt").name == "vocab.txt");
    CHECK_THROWS_WITH(tokenizer_file(folder / "gone.txt"), Catch::Contains("gone.txt: does not exist"));
}
