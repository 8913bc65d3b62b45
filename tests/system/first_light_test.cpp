// scripts/benchmark/first_light.sh with the real programs. scripts/check.sh runs all of its stages.
#include "core/error.h"
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
using nlohmann::json;

TEST_CASE("first light trains on the CPU and compares memory with the plan") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result =
        run_command(concat("scripts/benchmark/first_light.sh --device cpu --stages learning memory --minutes 8 --programs '",
                           program_folder(), "' --output '", folder.path().string(), "'"));
    INFO(result.out << result.err << read_text(folder / "first_light.md"));
    CHECK(result.exit_code == 0);
    const json stages = json::parse(read_text(folder / "first_light.json")).at("stages");
    CHECK(stages.at("learning").at("data").at("apart") == 0);  // the CPU against itself
    CHECK(stages.at("memory").at("data").at("errors").size() == 2);
    CHECK(missing_words(read_text(folder / "first_light.md"), {"| learning:", "| 2 | ", "sequences per pass"}) == "");
}
