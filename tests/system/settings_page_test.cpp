// The page of all settings.
#include "support/catch.h"
#include "support/folders.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

TEST_CASE("configs/SETTINGS.md is what the program explains") {
    NEEDS_TRAIN();
    const CommandResult explained = run_command(train_program + " config explain --markdown");
    REQUIRE(explained.exit_code == 0);
    INFO("do: bertpretrain config explain --markdown > configs/SETTINGS.md");
    CHECK((read_text(project_folder() + "/configs/SETTINGS.md") == explained.out));
}
