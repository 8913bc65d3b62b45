// checkpoint.mirror: a run killed during an upload resumes on an empty disk as if nothing had happened.

#include "support/catch.h"
#include "support/object_server.h"
#include "system/run_progress.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;

namespace {

constexpr const char* to_mirror = "--set checkpoint.mirror=s3://bucket/mirror ";

/// Returns the lines of `all` from the first that `part` has; those before belong to a folder that was lost.
std::vector<std::string> same_end(std::vector<std::string> all, const std::vector<std::string>& part) {
    if (part.size() < all.size()) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(part.size()));
    return all;
}

bool has_event(const fs::path& run, const std::string& name, std::int64_t step) {
    for (const std::string& line : lines_so_far(run / "events.jsonl")) {
        const auto event = nlohmann::json::parse(line);
        if (event.value("event", "") == name && event.value("step", std::int64_t{-1}) == step) return true;
    }
    return false;
}

}  // namespace

TEST_CASE(
    "a run of two ranks whose host is lost during an upload goes on from its mirror with the losses of an undisturbed run") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), undisturbed = folder / "undisturbed", run = folder / "run";
    REQUIRE(train(config, undisturbed, "--local-ranks 2").exit_code == 0);

    server.set_faults(R"([{"fault": "503", "every": 9}, {"fault": "cut", "method": "PUT", "contains": ".pt", "times": 1},
                          {"fault": "wrong", "method": "PUT", "contains": ".pt", "times": 1},
                          {"fault": "503", "contains": "step_00000020/optimizer.pt"}])");
    {
        Process process(server.environment() + train_command(config, run, concat("--local-ranks 2 ", to_mirror)));
        REQUIRE(wait_until(process, [&] { return server.count("step_00000020/optimizer.pt") > 0; }));
        for (const pid_t rank : children_of(process.pid())) ::kill(rank, SIGKILL);
        process.send(SIGKILL);
    }
    const std::string id = read_text(run / "run_id");
    fs::remove_all(run);
    server.set_faults(
        R"([{"fault": "503", "every": 7}, {"fault": "wrong", "method": "GET", "contains": "model.pt", "times": 1}])");
    const CommandResult rest =
        run_command(server.environment() + train_command(config, run, concat("--local-ranks 2 ", to_mirror)));
    INFO(rest.err);
    CHECK(rest.exit_code == 0);
    const auto numbers = numbers_of(run);
    CHECK(read_text(run / "run_id") == id);
    CHECK(missing_words(rest.err, {"fetching the checkpoint of step", "going on from step"}) == "");
    CHECK(first_difference(numbers, same_end(numbers_of(undisturbed), numbers)) == "");
    CHECK(has_event(run, "mirror", 20));
    CHECK(run_command(train_program + " inspect --lineage " + (run / "checkpoints/step_00000020").string()).exit_code == 0);
    for (const char* file : {"plan.json", "log.txt", "settings.json", "events.jsonl"})
        CHECK(read_text(run / file).find("verysecret") == std::string::npos);

    const CommandResult other =
        run_command(server.environment() + train_command(config, folder / "other", concat(to_mirror, "--set training.seed=8")));
    CHECK(other.exit_code == 2);
    CHECK(missing_words(other.err, {"is the mirror of another run", "training.seed"}) == "");
    CHECK(complete_checkpoints(folder / "other") == 0);
}

TEST_CASE("a mirror that fails is a warning and an event, and a stop waits for it no longer than checkpoint.stop_grace_seconds") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    server.set_faults(R"([{"fault": "503", "method": "PUT"}])");
    Process process(
        server.environment() +
        train_command(finished_run().config, run,
                      concat(to_mirror, "--set schedule.total_steps=100000 --set checkpoint.stop_grace_seconds=0.5")));
    REQUIRE(wait_until(process, [&] { return server.count("PUT") > 0; }));
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 128 + SIGTERM);
    CHECK(missing_words(read_text(run / "log.txt"), {"is not in the mirror: the time limit for the end of the run"}) == "");
    CHECK(missing_words(read_text(run / "events.jsonl"), {"mirror_failed"}) == "");
    CHECK(complete_checkpoints(run) > 0);
}

TEST_CASE("at the end the other ranks wait for a slow mirror, but no longer than the timeout for a rank 0 that hangs") {
    NEEDS_TRAIN();
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    server.set_faults(R"([{"fault": "503", "method": "PUT", "contains": "step_00000020"}])");
    const std::string options = concat(to_mirror, "--local-ranks 2 --set parallel.timeout_seconds=2 ");
    const fs::path config = write_experiment(folder, {{"evaluation", {{"every_steps", 0}}}}), slow = folder / "slow";
    const CommandResult slow_end =
        run_command(server.environment() + train_command(config, slow, options + "--set checkpoint.mirror_seconds=5"));
    INFO(slow_end.err);
    CHECK(slow_end.exit_code == 0);
    CHECK(has_event(slow, "finish", 20));

    const fs::path hangs = folder / "hangs";
    const std::string other_mirror = "--set checkpoint.mirror=s3://bucket/other ";
    Process process(server.environment() + train_command(config, hangs, options + other_mirror));
    REQUIRE(wait_until(process, [&] { return has_event(hangs, "finish", 20); }));
    const auto ranks = children_of(process.pid());
    REQUIRE(ranks.size() == 2);
    ::kill(ranks.front(), SIGSTOP);
    const bool left = wait_until(process, [&] { return children_of(process.pid()).size() <= 1; });
    CHECK(left);
    ::kill(ranks.front(), SIGKILL);
    CHECK(process.wait() == 5);
    CHECK(complete_checkpoints(hangs) > 0);
}
