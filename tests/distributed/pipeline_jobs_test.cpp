// The production loop as a job: the training on two hosts, the other stages on the first one.
#include "core/error.h"
#include "distributed/hosts.h"
#include "distributed/platforms.h"
#include "distributed/ranks.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Writes a pipeline of 60 steps without exports, whose models are in FOLDER/models. @returns its file
fs::path write_pipeline(const TemporaryFolder& folder) {
    const fs::path experiment = write_distributed_experiment(
        folder,
        {{"schedule", {{"total_steps", 60}}}, {"parallel", {{"timeout_seconds", 10}}}, {"evaluation", {{"every_steps", 0}}}});
    const nlohmann::json settings = {{"experiment", experiment.string()},
                                     {"models", (folder / "models").string()},
                                     {"data", {{"training_shards", sample_data().shards.string()}}},
                                     {"evaluation", {{"held_out_shards", sample_data().shards.string()}}},
                                     {"export", {{"formats", nlohmann::json::array()}}}};
    write_text(folder / "pipeline.json", settings.dump());
    return folder / "pipeline.json";
}

/// Returns the number of ranks with which a run started.
std::int64_t ranks_of(const fs::path& run) {
    const std::string events = read_text(run / "events.jsonl");
    return nlohmann::json::parse(events.substr(0, events.find('\n'))).at("ranks").get<std::int64_t>();
}

const std::string environment = concat("env RUN_UNTIL_DONE_PAUSE_SECONDS=0 BERTPRETRAIN=", train_program, " ");

}  // namespace

TEST_CASE("AWS Batch: the main node runs a pipeline's stages, the child takes part in the training and ends with it") {
    NEEDS_TRAIN();
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder;
    const std::string arguments = "pipeline " + write_pipeline(folder).string();
    const auto node = [&](int number, int attempt) {
        return concat(environment, "AWS_BATCH_JOB_ID=job-7", number == 0 ? "" : "#1", " ",
                      batch_node(hosts, number, attempt, 1, arguments));
    };
    const fs::path models = folder / "models";
    {
        Process main_node(node(0, 1)), child(node(1, 1));
        REQUIRE(wait_until(main_node, [&] { return last_step(models / "0001/run") >= 12; }));
        kill_second_rank();
        CHECK(main_node.wait() == 5);  // not a code on which the job definition gives up
    }
    Process main_node(node(0, 2)), child(node(1, 2));
    CHECK(main_node.wait() == 0);
    CHECK(child.wait() == 0);
    CHECK(fs::read_symlink(models / "current") == "0001");
    CHECK(ranks_of(models / "current/run") == 2);
    CHECK(last_step(models / "current/run") == 60);
}

TEST_CASE("Slurm: a pipeline at its time limit is queued again, and continues") {
    NEEDS_TRAIN();
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder, commands;
    write_slurm_commands(commands, hosts);
    const std::string arguments = "--pipeline " + write_pipeline(folder).string();
    const fs::path models = folder / "models";
    {
        Process job(environment + batch_script(commands, 0, arguments));
        REQUIRE(wait_until(job, [&] { return last_step(models / "0001/run") >= 12; }));
        job.send(SIGUSR1);
        CHECK(job.wait() == 0);  // exit code of scontrol
    }
    CHECK(read_text(commands / "queued") == concat("requeue ", ::getpid(), "\n"));
    CHECK(has_checkpoint(models / "0001/run"));
    CHECK_FALSE(fs::exists(models / "current"));
    Process job(environment + batch_script(commands, 1, arguments));
    CHECK(job.wait() == 0);
    CHECK(fs::read_symlink(models / "current") == "0001");
    CHECK(ranks_of(models / "current/run") == 2);
    CHECK(last_step(models / "current/run") == 60);
}
