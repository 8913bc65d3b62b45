#include "tokens/vocabulary.h"

#include "core/error.h"
#include "core/files.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using bertpretrain::testing::TemporaryFolder;
using bertpretrain::testing::write_text;

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
