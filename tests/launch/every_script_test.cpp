// Every script of scripts/ with names that shells misread (every_script.py).
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain::testing;

TEST_CASE("every script prints its help, and works with blanks, line breaks, quotes and dashes in names, from any folder") {
    const CommandResult result = run_command(PYTHON " tests/launch/every_script.py");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
}
