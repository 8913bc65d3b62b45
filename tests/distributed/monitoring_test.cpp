// scripts/launch/monitoring with a real Prometheus: alerts and dashboard.
#include <filesystem>
#include <regex>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/skip.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("Prometheus collects a run of two ranks, answers every query of the dashboard, and evaluates the alerts") {
    NEEDS_TRAIN();
    if (run_command("command -v prometheus && command -v promtool && " PYTHON " -c 'import yaml'").exit_code != 0)
        SKIP_TEST(skip::no_oracle, "no prometheus, promtool or PyYAML");
    const TemporaryFolder folder;
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}},
                                                  {"checkpoint", {{"save_every_steps", 5}}},
                                                  {"evaluation", {{"every_steps", 5}}}});
    const auto run = folder / "run";
    Process job(concat(train_program, " train ", config.string(), " --output ", run.string(),
                       " --local-ranks 2 --metrics-address 127.0.0.1:0"));
    const std::regex address("http://(127\\.0\\.0\\.1:[0-9]+)/metrics");
    std::smatch found;
    std::string log;
    REQUIRE(wait_until(job, [&] {
        log = std::filesystem::exists(run / "log.txt") ? read_text(run / "log.txt") : "";
        return std::regex_search(log, found, address);
    }));
    const CommandResult result = run_command(concat(PYTHON " tests/launch/check_monitoring.py ", found[1].str()));
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("evaluated: BertpretrainStalled") != result.out.npos);
    CHECK(result.out.find("answered: Since the last checkpoint") != result.out.npos);
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}
