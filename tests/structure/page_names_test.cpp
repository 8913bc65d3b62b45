// Pages name only files, options and settings that exist (check_page_names.py).
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain::testing;

namespace {

const std::string check_names = PYTHON " tests/structure/check_page_names.py ";

}  // namespace

TEST_CASE("a file, an option, a setting or a link of a page that does not exist is found with its line") {
    const TemporaryFolder folder;
    for (const std::string name : {"lib/core", "configs"}) std::filesystem::create_directories(folder / name);
    write_text(folder / "lib/core/here.h", "// --known\n");
    write_text(folder / "configs/SETTINGS.md", "## batch\n\n| `batch.size` |\n");
    write_text(folder / "README.md",
               "`lib/core/here.h`, `core/here.h`, `lib/core/NAME.h`, `lib/core/gone.h`, `gone.py`, `vocab.txt`\n"
               "`--known`, `--unknown`, `batch.size`, `batch.length`\n"
               "[settings](configs/SETTINGS.md#batch), [none](configs/SETTINGS.md#none), [gone](configs/GONE.md)\n");
    const CommandResult found = run_command(check_names + folder.path().string());
    CHECK(found.exit_code == 1);
    CHECK(found.out ==
          "README.md:1: there is no file lib/core/gone.h\n"
          "README.md:1: there is no file gone.py\n"
          "README.md:2: there is no option --unknown\n"
          "README.md:2: there is no setting batch.length\n"
          "README.md:3: the link configs/SETTINGS.md#none leads nowhere\n"
          "README.md:3: the link configs/GONE.md leads nowhere\n");
}

TEST_CASE("pages name only files, options and settings that exist") {
    const CommandResult found = run_command(check_names);
    INFO(found.out << found.err);
    CHECK(found.exit_code == 0);
}
