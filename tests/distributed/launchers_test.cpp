// The result of a run does not depend on its launcher.
#include <algorithm>

#include "core/error.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/free_port.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

std::string port() { return std::to_string(free_port()); }

/// Starts the command line once per environment, at the same time. @returns the exit codes
std::vector<int> start_all(const std::string& command, const std::vector<std::string>& environments) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (const std::string& environment : environments)
        ranks.push_back(std::make_unique<Process>("env " + environment + " " + command));
    std::vector<int> codes;
    for (const auto& rank : ranks) codes.push_back(rank->wait());
    return codes;
}

nlohmann::json five_steps() { return {{"schedule", {{"total_steps", 5}}}}; }

}  // namespace

TEST_CASE("plain variables, Open MPI's, Slurm's, AWS Batch's and PET variables start the same run") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, five_steps());
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    const std::string at = " MASTER_PORT=" + port();
    const std::string ompi = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2" + at;
    const std::string slurm =
        "SLURM_NTASKS=2 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=localhost SLURM_STEP_NUM_NODES=1 SLURM_JOB_ID=" + port();
    const std::string aws = "AWS_BATCH_JOB_NUM_NODES=2 AWS_BATCH_JOB_MAIN_NODE_INDEX=0 AWS_BATCH_JOB_ATTEMPT=1" + at;
    const std::string pet = "PET_NNODES=2 PET_NPROC_PER_NODE=1 PET_MASTER_ADDR=localhost PET_MASTER_PORT=" + port();
    const std::map<std::string, std::vector<std::string>> launchers = {
        {"plain", {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1" + at, "RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1" + at}},
        {"ompi", {ompi + " OMPI_COMM_WORLD_RANK=0", ompi + " OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=1"}},
        {"slurm", {slurm + " SLURM_PROCID=0", slurm + " SLURM_PROCID=1 SLURM_LOCALID=1"}},
        {"aws",
         {aws + " AWS_BATCH_JOB_NODE_INDEX=0",
          aws + " AWS_BATCH_JOB_NODE_INDEX=1 AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=127.0.0.1"}},
        {"pet", {pet + " PET_NODE_RANK=0", pet + " PET_NODE_RANK=1"}}};
    for (const auto& [name, environments] : launchers) {
        CAPTURE(name);
        CHECK(start_all(train_command(config, folder / name), environments) == std::vector<int>{0, 0});
        CHECK(largest_difference(folder / "alone", folder / name) < 1e-5);
    }
}

TEST_CASE("variables that are missing or contradict each other are exit 2, by name") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, five_steps());
    const auto refused = [&](const std::string& environment, const std::vector<std::string>& words) {
        const CommandResult result = run_command("env " + environment + " " + train_command(config, folder / "run"));
        INFO(environment);
        CHECK(result.exit_code == 2);
        CHECK(missing_words(result.err, words) == "");
    };
    refused("WORLD_SIZE=2", {"RANK is not set"});
    refused("RANK=0 WORLD_SIZE=2", {"MASTER_ADDR is not set"});
    refused("RANK=2 WORLD_SIZE=2", {"RANK = 2 contradicts WORLD_SIZE = 2"});
    const CommandResult both = run_command("env RANK=0 WORLD_SIZE=1 " + train_command(config, folder / "run", "--local-ranks 2"));
    CHECK(both.exit_code == 2);
    CHECK(missing_words(both.err, {"--local-ranks 2", "RANK and WORLD_SIZE"}) == "");
    CHECK_FALSE(fs::exists(folder / "run"));
}

TEST_CASE("torchrun restarts the ranks when one is killed, and the losses are those of an uninterrupted run") {
    NEEDS_TRAIN();
    NEEDS_TORCHRUN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"checkpoint", {{"save_every_steps", 5}}}});
    REQUIRE(train(config, folder / "undisturbed").exit_code == 0);
    const fs::path run = folder / "run";
    Process agent(concat("env OMP_NUM_THREADS=1 ", torchrun, " --standalone --nproc_per_node 4 --max-restarts 2 --no-python ",
                         train_command(config, run)));
    REQUIRE(wait_until(agent, [&] { return last_step(run) >= 7 && has_checkpoint(run); }));
    const auto ranks = children_of(agent.pid());
    REQUIRE(ranks.size() >= 4);
    ::kill(ranks[1], SIGKILL);
    CHECK(agent.wait() == 0);
    CHECK(largest_difference(folder / "undisturbed", run) < 1e-5);
    CHECK(parameter_difference(folder / "undisturbed", run) < 1e-5);
    CHECK(read_text(run / "events.jsonl").find("\"resume\"") != std::string::npos);
}

TEST_CASE("with --max-restarts the ranks start again when one is killed, without torchrun, and not more often") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"checkpoint", {{"save_every_steps", 5}}}});
    REQUIRE(train(config, folder / "undisturbed").exit_code == 0);
    const fs::path run = folder / "run";
    Process job(train_command(config, run, "--local-ranks 2 --max-restarts 1"));
    REQUIRE(wait_until(job, [&] { return last_step(run) >= 7 && has_checkpoint(run); }));
    ::kill(children_of(job.pid()).at(1), SIGKILL);
    CHECK(job.wait() == 0);
    CHECK(largest_difference(folder / "undisturbed", run) < 1e-5);
}

TEST_CASE(
    "a rank of --local-ranks that is killed is named, in the log and in exit.json, with how often the ranks were restarted") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"schedule", {{"total_steps", 100'000}}}});
    const fs::path run = folder / "run", errors = folder / "errors";
    const auto last = GENERATE(std::size_t{0}, std::size_t{1});
    Process job(
        concat("sh -c 'exec ", train_command(config, run, "--local-ranks 2 --max-restarts 1"), " 2>", errors.string(), "'"));
    REQUIRE(wait_until(job, [&] { return last_step(run) >= 2; }));
    const std::vector<pid_t> first = children_of(job.pid());
    ::kill(first.at(1 - last), SIGKILL);
    const auto second = [&] {
        std::vector<pid_t> running = children_of(job.pid());
        std::erase_if(running, [&](pid_t one) { return std::ranges::find(first, one) != first.end(); });
        return running;
    };
    REQUIRE(wait_until(job, [&] { return second().size() == 2; }));
    ::kill(second().at(last), SIGKILL);
    CHECK(job.wait() == 5);
    const nlohmann::json record = nlohmann::json::parse(read_text(run / "exit.json"));
    CHECK(record.at("rank") == last);
    CHECK(record.at("attempt") == 1);
    CHECK_THAT(record.at("cause").get<std::string>(), Catch::Matchers::Contains("was killed by signal 9 (Killed)"));
    for (const int killed : {0, 1})
        CHECK_THAT(read_text(errors), Catch::Matchers::Contains(concat("rank ", killed, " was killed by signal 9")));
}

TEST_CASE("a restart that cannot fix the error ends at once, and torchrun names the cause") {
    NEEDS_TRAIN();
    NEEDS_TORCHRUN();
    const TemporaryFolder folder;
    fs::copy(sample_data().shards, folder / "shards");
    for (const auto& entry : fs::directory_iterator(folder / "shards"))
        if (entry.path().extension() == ".h5") fs::resize_file(entry.path(), 3000);
    const auto config = write_distributed_experiment(folder, {{"data", {{"training_shards", (folder / "shards").string()}}}});
    const CommandResult result =
        run_command(concat("env OMP_NUM_THREADS=1 ", torchrun, " --standalone --nproc_per_node 2 --max-restarts 2 --no-python ",
                           train_command(config, folder / "run")));
    CHECK(result.exit_code != 0);
    CHECK(missing_words(result.err, {"data error: ", "attempt 0 failed", "a restart cannot fix"}) == "");
    const auto record = nlohmann::json::parse(read_text(folder / "run/exit.json"));
    CHECK(record.at("code") == 3);
}
