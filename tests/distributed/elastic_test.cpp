// A run can be resumed on the machines that are left.
#include "core/error.h"
#include "distributed/ranks.h"
#include "support/catch.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Starts a run on `ranks` ranks and waits until it has taken at least `steps` steps.
struct Running {
    Running(const fs::path& config, const fs::path& run, int ranks, std::int64_t steps)
        : process(train_command(config, run, "--local-ranks " + std::to_string(ranks))) {
        wait_until(process, [&] { return last_step(run) >= steps; });
    }
    Process process;
};

/// Without accumulation in the settings, the first start's ranks determine the global batch: 2 ranks x 4 x 3.
nlohmann::json first_start_decides() {
    return {{"batch", {{"global_batch_size", 0}, {"gradient_accumulation_steps", 3}}}, {"checkpoint", {{"save_every_steps", 5}}}};
}

}  // namespace

TEST_CASE("a run stopped on two ranks resumes on three, then on one, with the same losses") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, first_start_decides());
    REQUIRE(train(config, folder / "undisturbed", "--local-ranks 2").exit_code == 0);
    const fs::path run = folder / "run";
    {
        Running two(config, run, 2, 3);
        two.process.send(SIGTERM);
        CHECK(two.process.wait() == 143);
    }
    const std::int64_t stopped = last_step(run);
    CHECK(stopped >= 3);
    CHECK(fs::exists(run / "checkpoints" /
                     bertpretrain::concat("step_", std::string(8 - std::to_string(stopped).size(), '0'), stopped)));
    {
        Running three(config, run, 3, stopped + 6);
        for (const pid_t rank : children_of(three.process.pid())) ::kill(rank, SIGKILL);
        CHECK(three.process.wait() == 5);
    }
    REQUIRE(train(config, run).exit_code == 0);
    CHECK(largest_difference(folder / "undisturbed", run) < 1e-5);
    CHECK(parameter_difference(folder / "undisturbed", run) < 1e-5);
}

TEST_CASE("stopped on four ranks, then two, then three, a run ends on one with the losses of an uninterrupted run") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder);
    REQUIRE(train(config, folder / "undisturbed").exit_code == 0);
    const fs::path run = folder / "run";
    std::int64_t stopped = 0;
    for (const int ranks : {4, 2, 3}) {
        Running some(config, run, ranks, stopped + 4);
        some.process.send(SIGTERM);
        CHECK(some.process.wait() == 143);
        stopped = last_step(run);
    }
    CHECK(stopped < 30);
    REQUIRE(train(config, run).exit_code == 0);
    CHECK(largest_difference(folder / "undisturbed", run) < 1e-5);
    CHECK(parameter_difference(folder / "undisturbed", run) < 1e-5);
}

TEST_CASE("a global batch that differs from the first start's is refused with both numbers") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, first_start_decides());
    REQUIRE(train(config, folder / "run", "--local-ranks 2 --set schedule.total_steps=5").exit_code == 0);
    const CommandResult other = train(config, folder / "run", "--set batch.global_batch_size=12");
    CHECK(other.exit_code == 2);
    CHECK(missing_words(other.err, {"batch.global_batch_size", "24 in the checkpoint", "12 now"}) == "");
    CHECK(train(config, folder / "run", "--set schedule.total_steps=6").exit_code == 0);
}

TEST_CASE("when one rank of four is killed, the others end with exit 5 at once") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config =
        write_distributed_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"parallel", {{"timeout_seconds", 300}}}});
    Running four(config, folder / "run", 4, 3);
    const auto ranks = children_of(four.process.pid());
    REQUIRE(ranks.size() == 4);
    ::kill(ranks[2], SIGKILL);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(four.process.wait() == 5);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(100));  // far less than the timeout
    const auto record = nlohmann::json::parse(read_text(folder / "run/exit.json"));
    CHECK(record.at("code") == 5);
    CHECK(missing_words(record.at("cause").get<std::string>(), {" of 4 lost rank "}) == "");
}

TEST_CASE("when one rank of three is suspended, the others end with exit 5 within the timeout") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config =
        write_distributed_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"parallel", {{"timeout_seconds", 4}}}});
    Running three(config, folder / "run", 3, 3);
    const auto ranks = children_of(three.process.pid());
    REQUIRE(ranks.size() == 3);
    ::kill(ranks[1], SIGSTOP);
    const bool left = wait_until(three.process, [&] { return children_of(three.process.pid()).size() <= 1; });
    CHECK(left);
    const auto record = nlohmann::json::parse(read_text(folder / "run/exit.json"));
    CHECK(record.at("code") == 5);
    ::kill(ranks[1], SIGKILL);
    CHECK(three.process.wait() == 5);
}

TEST_CASE("a rank that is suspended while all wait for a slow disk ends the others with exit 5 within the timeout") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const auto config =
        write_distributed_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"parallel", {{"timeout_seconds", 4}}}});
    // The save of step 10 does not end, so that of step 20 waits for it.
    Process three(concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_RANK=0 FAULT_CALL=fsync FAULT_FILE=step_ ",
                         train_command(config, run, "--local-ranks 3")));
    REQUIRE(wait_until(three, [&] { return last_step(run) == 20; }));
    sleep_seconds(1);
    const auto ranks = children_of(three.pid());
    REQUIRE(ranks.size() == 3);
    ::kill(ranks[1], SIGSTOP);
    CHECK(wait_until(three, [&] { return children_of(three.pid()).size() <= 1; }));
    ::kill(ranks[1], SIGKILL);
    CHECK(three.wait() == 5);
    CHECK(nlohmann::json::parse(read_text(run / "exit.json")).at("code") == 5);
}

TEST_CASE("damaged data on one rank ends all ranks with exit 3 and that rank's message") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    fs::copy(sample_data().shards, folder / "shards");
    for (const auto& entry : fs::directory_iterator(folder / "shards"))
        if (entry.path().extension() == ".h5") fs::resize_file(entry.path(), 3000);
    const auto config = write_distributed_experiment(folder, {{"data", {{"training_shards", (folder / "shards").string()}}}});
    const CommandResult result = train(config, folder / "run", "--local-ranks 2");
    CHECK(result.exit_code == 3);
    CHECK(missing_words(result.err, {"data error: ", ".h5"}) == "");
    CHECK(nlohmann::json::parse(read_text(folder / "run/exit.json")).at("code") == 3);
}

TEST_CASE("a lost peer is named by its rank and host") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"schedule", {{"total_steps", 100000}}}});
    Running two(config, folder / "run", 2, 3);
    const auto ranks = children_of(two.process.pid());
    REQUIRE(ranks.size() == 2);
    ::kill(ranks[1], SIGKILL);
    CHECK(two.process.wait() == 5);
    std::string host(256, '\0');
    REQUIRE(::gethostname(host.data(), host.size() - 1) == 0);
    const auto record = nlohmann::json::parse(read_text(folder / "run/exit.json"));
    CHECK(missing_words(record.at("cause").get<std::string>(),
                        {bertpretrain::concat("rank 0 of 2 lost rank 1 on ", host.c_str(), " in ")}) == "");
}
