// Simulates AWS Batch and Slurm: runs the launch scripts on two hosts (network namespaces) with the variables that the platforms
// document, and does what the platforms do when a node fails.
#include <set>

#include "core/error.h"
#include "distributed/hosts.h"
#include "distributed/platforms.h"
#include "distributed/ranks.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

nlohmann::json long_run() {
    return {{"schedule", {{"total_steps", 60}}}, {"parallel", {{"timeout_seconds", 10}}}, {"evaluation", {{"every_steps", 0}}}};
}

std::set<std::string> checkpoints_of(const fs::path& run) {
    std::set<std::string> names;
    std::error_code missing;  // before the first
    for (const auto& entry : fs::directory_iterator(run / "checkpoints", missing))
        if (fs::exists(entry.path() / "COMPLETE.json")) names.insert(entry.path().filename().string());
    return names;
}

}  // namespace

TEST_CASE("node.sh: after SIGTERM the ranks save before torchrun may kill them, and again when they stop") {
    NEEDS_TRAIN();
    NEEDS_TORCHRUN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"schedule", {{"total_steps", 100000}}},
                                                              {"checkpoint", {{"save_every_steps", 0}, {"keep_last", 10}}},
                                                              {"evaluation", {{"every_steps", 0}}}});
    const fs::path run = folder / "run";
    Process job(
        concat(installed(), "PROCESSES_PER_NODE=2 scripts/launch/node.sh train ", config.string(), " --output ", run.string()));
    const bool is_training = wait_until(job, [&] { return last_step(run) >= 3; });
    REQUIRE(is_training);
    CHECK(checkpoints_of(run).empty());
    const std::int64_t step = last_step(run);
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
    const auto saved = checkpoints_of(run);
    CHECK(saved.size() == 2);  // the one of SIGUSR1, and the one of SIGTERM
    CHECK(std::stoll(saved.begin()->substr(5)) >= step);
}

TEST_CASE("AWS Batch: the main node gives torchrun its address on the job's network, not a link-local or loopback one") {
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder;
    // As awsvpc does it: a link-local interface beside the task's own, and a line in /etc/hosts.
    write_text(folder / "hosts", concat("127.0.0.1 localhost\n", TwoHosts::address(0), " main-node\n"));
    write_text(folder / "torchrun", "#!/bin/sh\necho \"$* $NCCL_SOCKET_IFNAME\"\n");
    fs::permissions(folder / "torchrun", fs::perms::owner_all);
    const bool is_in_hosts = GENERATE(true, false);
    const CommandResult result = run_command(hosts.on(
        0, concat("unshare --mount --uts bash -c \"ip link add ecs-eth0 type dummy; ip addr add 169.254.172.2/22 dev ecs-eth0; ",
                  "ip link set ecs-eth0 up; mount --bind ", (folder / "hosts").string(), " /etc/hosts; hostname ",
                  is_in_hosts ? "main-node" : "unknown-node", "; PATH=", folder.path().string(),
                  ":\\$PATH AWS_BATCH_JOB_NUM_NODES=2 AWS_BATCH_JOB_MAIN_NODE_INDEX=0 AWS_BATCH_JOB_NODE_INDEX=0 "
                  "OMP_NUM_THREADS=1 PROCESSES_PER_NODE=8 scripts/launch/node.sh train some.json\"")));
    INFO(result.out << result.err);
    CHECK(result.out.find(concat("--master_addr ", TwoHosts::address(0), " ")) != result.out.npos);
    CHECK(result.out.find("^lo,docker,ecs") != result.out.npos);
}

TEST_CASE(
    "AWS Batch: a job of two nodes ends like a run of one process; a lost child fails the main node, and the next attempt "
    "resumes") {
    NEEDS_TRAIN();
    NEEDS_TORCHRUN();
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder;
    const int processes = GENERATE(1, 2);
    CAPTURE(processes);
    const auto config = write_distributed_experiment(folder, long_run());
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    const fs::path run = folder / "run";
    const std::string arguments = concat("train ", config.string(), " --output ", run.string());
    {
        Process main_node(batch_node(hosts, 0, 1, processes, arguments));
        Process child(batch_node(hosts, 1, 1, processes, arguments));
        REQUIRE(wait_until(main_node, [&] { return last_step(run) >= 12; }));
        kill_second_rank();
        CHECK(main_node.wait() == 5);  // not a code on which the job definition gives up
    }
    Process main_node(batch_node(hosts, 0, 2, processes, arguments));
    sleep_seconds(1);  // child nodes start later, in any order
    Process child(batch_node(hosts, 1, 2, processes, arguments));
    CHECK(main_node.wait() == 0);
    CHECK(child.wait() == 0);
    CHECK(largest_difference(folder / "alone", run) < 1e-5);
}

TEST_CASE("AWS Batch: an error that a restart cannot fix is the job's exit code, also through torchrun") {
    NEEDS_TRAIN();
    NEEDS_TORCHRUN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"data", {{"training_shards", (folder / "nowhere").string()}}}});
    const CommandResult result =
        run_command(concat(installed(), "MAX_RESTARTS=1000 PROCESSES_PER_NODE=2 scripts/launch/node.sh train ", config.string(),
                           " --output ", (folder / "run").string()));
    INFO(result.err);
    CHECK((result.exit_code == 2 || result.exit_code == 3));
}

TEST_CASE(
    "Slurm: a job of two hosts ends like a run of one process; after a lost rank or at its time limit it is queued again and "
    "resumes") {
    NEEDS_TRAIN();
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder, commands;
    write_slurm_commands(commands, hosts);
    const bool time_limit = GENERATE(false, true);
    CAPTURE(time_limit);
    const auto config = write_distributed_experiment(folder, long_run());
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    const fs::path run = folder / "run";
    const std::string arguments = concat(config.string(), " --output ", run.string());
    {
        Process job(batch_script(commands, 0, arguments));
        REQUIRE(wait_until(job, [&] { return last_step(run) >= 12; }));
        if (time_limit) job.send(SIGUSR1);
        else kill_second_rank();
        CHECK(job.wait() == 0);  // exit code of scontrol
    }
    CHECK(read_text(commands / "queued") == concat("requeue ", ::getpid(), "\n"));
    Process job(batch_script(commands, 1, arguments));
    CHECK(job.wait() == 0);
    CHECK(largest_difference(folder / "alone", run) < 1e-5);
}
