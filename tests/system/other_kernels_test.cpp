// A run that is resumed with other instructions.

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

TEST_CASE("a run that is resumed with other kernels logs that, and one with the same kernels does not") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    std::filesystem::remove_all(folder / "run/checkpoints/step_00000020");
    const std::string command = train_command(finished_run().config, folder / "run");
    const CommandResult same = run_command(command);
    REQUIRE(same.exit_code == 0);
    CHECK(same.err.find("computed by the kernels") == std::string::npos);

    std::filesystem::remove_all(folder / "run/checkpoints/step_00000020");
    const CommandResult other = run_command("BERTPRETRAIN_CPU_CAPABILITY=baseline " + command);
    CHECK(other.exit_code == 0);
    CHECK(missing_words(other.err, {"warning: ", "computed by the kernels for ", "those for baseline compute"}) == "");
}
