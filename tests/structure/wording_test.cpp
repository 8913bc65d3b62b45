// Comments, messages, help and pages are written in plain words (wording.py has the list).
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain::testing;

namespace {

const std::string wording = PYTHON " tests/structure/wording.py ";

}  // namespace

TEST_CASE("a word of the list is found in any kind of file, with its line and what to write instead") {
    const TemporaryFolder folder;
    write_text(folder / "a.h", "int whatever_it_is;\n/// Mended by whoever\ncalls it;\n");
    write_text(folder / "page.md", "A behind-the-scenes page.\nA server behind a firewall.\n");
    write_text(folder / "data.bin", "whatever");
    const CommandResult found = run_command(wording + folder.path().string());
    CHECK(found.exit_code == 1);
    CHECK(found.out ==
          "a.h:2: Mended -> fix, repair\na.h:2: whoever -> the caller, the process, the user\n"
          "page.md:1: behind -> after (in time or order)\n");
}

TEST_CASE("comments, messages, help and pages use none of the words that the list replaces") {
    const CommandResult found = run_command(wording);
    INFO(found.out << found.err);
    CHECK(found.exit_code == 0);
}
