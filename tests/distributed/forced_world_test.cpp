// A process that communicates with itself trains the same model as one that does not.
#include "core/error.h"
#include "distributed/ranks.h"
#include "parallel/launch_environment.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("a run in a forced world of one has the numbers of a plain one, bit for bit") {
    NEEDS_TRAIN();
    const std::string options =
        "--set parallel.bucket_mib=0.1 --set parallel.zero_stage=" + GENERATE(as<std::string>(), "0", "1");
    const TemporaryFolder folder;
    REQUIRE(train(finished_run().config, folder / "plain", options).exit_code == 0);
    const CommandResult forced =
        run_command(concat(force_world_variable, "=1 ") + train_command(finished_run().config, folder / "forced", options));
    INFO(forced.err);
    REQUIRE(forced.exit_code == 0);
    CHECK(missing_words(forced.err, {"connected with itself", force_world_variable}) == "");
    CHECK(first_difference(numbers_of(folder / "plain"), numbers_of(folder / "forced")) == "");
}
