// telemetry.command: a program that gets the lines of metrics.jsonl, events.jsonl and devices.jsonl.
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("telemetry.command gets every line of metrics, events and devices, also of two ranks, and may hang") {
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
    const CommandResult same = run_command(concat(
        "sort ", (run / "all").string(), " >", (folder / "seen").string(), "; cat ", (run / "metrics.jsonl").string(), " ",
        (run / "events.jsonl").string(), " ", (run / "devices.jsonl").string(), " | sort | cmp - ", (folder / "seen").string()));
    CHECK(same.exit_code == 0);
    const std::vector<std::string> readings = lines_so_far(run / "devices.jsonl");
    REQUIRE(readings.size() == 1);  // one host, at the first step and then every minute
    const auto reading = nlohmann::json::parse(readings.front());
    CHECK(reading.at("step") == 1);
    CHECK(reading.at("devices").size() == (ranks.empty() ? 1 : 2));
    for (const auto& device : reading.at("devices")) {
        CHECK(device.at("memory_bytes") > 1e6);
        CHECK(device.contains("memory_total_bytes") == (device.at("rank") == 0));  // the host's
    }
    const CommandResult hangs = run_command(concat(train_program, " train ", config.string(), " --output ",
                                                   (folder / "hangs").string(), " --set telemetry.command='sleep 5'"));
    CHECK(hangs.exit_code == 0);
}
