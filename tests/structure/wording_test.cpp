// Comments, messages, help and pages are written in plain words (wording.py has the list).
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain::testing;

namespace {

const std::string wording = PYTHON " tests/structure/wording.py ";

}  // namespace

TEST_CASE("a word of the list is found in any kind of file, with its line and what to write instead") {
    const TemporaryFolder folder;
    write_text(folder / "a.h", "int patience_of_it;\n/// Dice for couriers\nand others;\n");
    write_text(folder / "page.md", "An errand-like page.\nA task.\n");
    write_text(folder / "data.bin", "patience");
    const CommandResult found = run_command(wording + folder.path().string());
    CHECK(found.exit_code == 1);
    CHECK(found.out == "a.h:2: Dice -> Rng\na.h:2: couriers -> async queue\npage.md:1: errand -> task\n");
}

TEST_CASE("comments, messages, help and pages use none of the words that the list replaces", "[system]") {
    const CommandResult found = run_command(wording);
    INFO(found.out << found.err);
    CHECK(found.exit_code == 0);
}
