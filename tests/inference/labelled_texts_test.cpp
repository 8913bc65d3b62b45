#include "inference/labelled_texts.h"

#include "archive/checksum.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::string refused_labels(const std::string& content) {
    const TemporaryFolder folder;
    write_text(folder / "task.tsv", content);
    try {
        read_labelled_texts(folder / "task.tsv", 2);
    } catch (const DataError& error) { return error.what(); }
    return "no refusal";
}

}  // namespace

TEST_CASE("labels are sorted, texts keep their order and further tabs, and line ends of either kind are dropped") {
    const TemporaryFolder folder;
    write_text(folder / "task.tsv", "ham\tone\r\nspam\ttwo\tthree\r\nham\t\"four\nspam\t five");
    const LabelledTexts found = read_labelled_texts(folder / "task.tsv", 2);
    CHECK(found.labels == std::vector<std::string>{"ham", "spam"});
    CHECK(found.classes_N == std::vector<std::int64_t>{0, 1, 0, 1});
    CHECK(found.texts_N == std::vector<std::string>{"one", "two\tthree", "\"four", " five"});
}

TEST_CASE("labelled texts are read as corpora are: without a byte order mark, from UTF-16, with any line ends") {
    const TemporaryFolder folder;
    for (const std::string& content : {std::string("\xEF\xBB\xBF"
                                                   "a\tx\rb\ty\r"),
                                       std::string("\xFF\xFE"
                                                   "a\0\t\0x\0\r\0\n\0"
                                                   "b\0\t\0y\0",
                                                   18)}) {
        write_text(folder / "task.tsv", content);
        const LabelledTexts found = read_labelled_texts(folder / "task.tsv", 1);
        CHECK(found.labels == std::vector<std::string>{"a", "b"});
        CHECK(found.texts_N == std::vector<std::string>{"x", "y"});
        CHECK(found.crc32 == crc32_of(std::as_bytes(std::span(content))));
    }
}

TEST_CASE("a labelled file that cannot be a task is refused by its line, with what was expected") {
    CHECK(refused_labels("a\tx\nno tab\n").find("task.tsv: line 2: has no tab; expected a label, a tab and a text") !=
          std::string::npos);
    CHECK(refused_labels("label,text\na,x\n").find("do: if this is CSV") != std::string::npos);
    CHECK(refused_labels("a\tx\n\tx\n").find("line 2: has no label") != std::string::npos);
    CHECK(refused_labels("a\tx\nb\t \n").find("line 2: has no text") != std::string::npos);
    CHECK(refused_labels("a\tx\n\n").find("line 2: has no tab") != std::string::npos);
    CHECK(refused_labels("a\tx\na\ty\n").find("all lines have the label \"a\"; expected at least two labels") !=
          std::string::npos);
    CHECK(
        refused_labels("a\tx\na\ty\nb\tz\n").find("line 3: the label \"b\" has 1 example(s) in the file; expected at least 2") !=
        std::string::npos);
    CHECK(refused_labels("label\ttext\na\tx\na\ty\nb\tx\nb\ty\n").find("leave out a header line") != std::string::npos);
    CHECK(refused_labels("a\tx\nb\t\xE9\n").find("byte 6 is not UTF-8") != std::string::npos);
    CHECK(refused_labels("").find("has no lines") != std::string::npos);
}
