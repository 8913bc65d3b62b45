// configs/SETTINGS.md lists the settings that the program has.
#include "config/write.h"
#include "plan/experiment_config.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/folders.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("the page of settings is the one that config explain --markdown prints") {
    INFO("do: bertpretrain config explain --markdown > configs/SETTINGS.md");
    CHECK(read_text(project_folder() + "/configs/SETTINGS.md") == settings_page<ExperimentConfig>());
}
