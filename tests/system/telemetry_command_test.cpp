// telemetry.command: a program that gets the lines of metrics.jsonl and events.jsonl.
#include "core/error.h"
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("telemetry.command gets every line of metrics.jsonl and events.jsonl, also of two ranks, and may hang") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string ranks = GENERATE("", " --local-ranks 2");
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 6}}}});
    const auto run = folder / "run";
    const CommandResult result = run_command(concat(train_program, " train ", config.string(), " --output ", run.string(), ranks,
                                                    " --set 'telemetry.command=cat >$1/seen; mv $1/seen $1/all'"));
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    run_command(concat("for i in $(seq 1000); do [ -e ", (run / "all").string(), " ] && break; sleep 0.01; done"));
    const CommandResult same = run_command(concat("sort ", (run / "all").string(), " >", (folder / "seen").string(), "; cat ",
                                                  (run / "metrics.jsonl").string(), " ", (run / "events.jsonl").string(),
                                                  " | sort | cmp - ", (folder / "seen").string()));
    CHECK(same.exit_code == 0);
    const CommandResult hangs = run_command(concat(train_program, " train ", config.string(), " --output ",
                                                   (folder / "hangs").string(), " --set telemetry.command='sleep 5'"));
    CHECK(hangs.exit_code == 0);
}
