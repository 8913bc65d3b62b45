// A run that is asked to stop saves and leaves, wherever it is; the same command goes on from there.

#include <random>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr double time_to_stop = 30;

/// Waits for the end. @returns the exit code, -1 when it took too long
int wait_for_end(Process& process, double seconds = time_to_stop) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!process.ended() && std::chrono::steady_clock::now() < end) sleep_seconds(0.01);
    return process.ended() ? process.wait() : -1;
}

std::size_t steps_of(const fs::path& run) {
    std::size_t steps = 0;
    for (const std::string& line : lines_so_far(run / "metrics.jsonl")) steps += line.find("held_out") == line.npos ? 1U : 0U;
    return steps;
}

int recorded_code(const fs::path& run) { return nlohmann::json::parse(read_text(run / "exit.json")).at("code").get<int>(); }

std::size_t complete_checkpoints(const fs::path& run) {
    std::size_t count = 0;
    if (fs::exists(run / "checkpoints"))
        for (const auto& entry : fs::directory_iterator(run / "checkpoints"))
            count += !entry.is_symlink() && fs::exists(entry.path() / "COMPLETE.json") && entry.path().extension() != ".partial";
    return count;
}

/// The run is whole, and ends as one that nobody stopped.
void check_goes_on(const fs::path& config, const fs::path& run, const fs::path& undisturbed, const std::string& options = "") {
    CHECK((complete_checkpoints(run) == 0 || run_command(train_program + " inspect --verify " + run.string()).exit_code == 0));
    const CommandResult rest = train(config, run, options);
    INFO(rest.err);
    CHECK(rest.exit_code == 0);
    CHECK(first_difference(numbers_of(run), numbers_of(undisturbed)) == "");
}

/// A run in which calls of the C library hang or fail once `when` is there.
std::string with_fault(const std::string& fault, const fs::path& when, const std::string& command) {
    return concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_WHEN=", when.string(), " ", fault, " ", command);
}

/// Many micro-batches of one sample: steps of several seconds.
nlohmann::json long_steps() {
    return {{"batch", {{"micro_batch_size", 1}, {"gradient_accumulation_steps", 3000}}}, {"schedule", {{"total_steps", 3}}}};
}

}  // namespace

TEST_CASE("a signal while the run starts ends it at once, on one rank and on two, and harms nothing") {
    NEEDS_TRAIN();
    const unsigned seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    double start_up = 0;
    {
        const TemporaryFolder folder;
        const auto begin = std::chrono::steady_clock::now();
        Process process(train_command(finished_run().config, folder / "run"));
        REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") > 0; }));
        start_up = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        process.wait();
    }
    for (const std::string options : {"", "", "--local-ranks 2", "--local-ranks 2"}) {
        const TemporaryFolder folder;
        Process process(train_command(finished_run().config, folder / "run", options));
        const auto begin = std::chrono::steady_clock::now();
        const std::chrono::duration<double> pause(std::uniform_real_distribution<double>(0.02, start_up)(random));
        // not later than its first step: the measured start may have been slower
        wait_until(process, [&] { return std::chrono::steady_clock::now() - begin > pause || steps_of(folder / "run") > 0; });
        process.send(SIGTERM);
        CHECK(wait_for_end(process) == 143);
        if (options.empty()) check_goes_on(finished_run().config, folder / "run", finished_run().run);
    }
}

TEST_CASE("a signal to stop saves the step it comes in, and the same command goes on from there") {
    NEEDS_TRAIN();
    for (const int signal : {SIGTERM, SIGINT}) {
        const TemporaryFolder folder;
        Process process(train_command(finished_run().config, folder / "run"));
        REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") >= 4; }));
        process.send(signal);
        CHECK(wait_for_end(process) == 128 + signal);
        const std::size_t step = steps_of(folder / "run");
        CHECK(step < 20);
        CHECK(recorded_code(folder / "run") == 128 + signal);
        CHECK(missing_words(read_text(folder / "run/events.jsonl"), {"\"stop\"", concat("\"step\":", step)}) == "");
        check_goes_on(finished_run().config, folder / "run", finished_run().run);
    }
}

TEST_CASE("a signal to one rank of two stops both at the same step") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}});
    Process process(train_command(config, folder / "run", "--local-ranks 2"));
    REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") >= 4; }));
    const auto ranks = children_of(process.pid());
    REQUIRE(ranks.size() == 2);
    ::kill(ranks[1], SIGINT);
    CHECK(wait_for_end(process) == 130);
    CHECK(recorded_code(folder / "run") == 130);
    const std::size_t step = steps_of(folder / "run");
    const CommandResult rest = train(config, folder / "run", concat("--local-ranks 2 --set schedule.total_steps=", step + 1));
    CHECK(missing_words(rest.err, {concat("going on from step ", step)}) == "");
}

TEST_CASE("a stop request that launcher and ranks get several times within milliseconds is one request, and the run saves") {
    NEEDS_TRAIN();
    for (const std::string options : {"", "--local-ranks 2"}) {
        CAPTURE(options);
        const TemporaryFolder folder;
        const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}});
        Process process(train_command(config, folder / "run", options));
        REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") >= 4; }));
        const auto ranks = children_of(process.pid());
        for (int delivery = 0; delivery < 3; ++delivery) {  // systemd asks every process of a unit, and a launcher its ranks
            process.send(SIGTERM);
            process.send(SIGUSR1);
            for (const pid_t rank : ranks) ::kill(rank, SIGTERM);
            sleep_seconds(0.005);
        }
        CHECK(wait_for_end(process) == 143);
        CHECK(recorded_code(folder / "run") == 143);
        const std::size_t step = steps_of(folder / "run");
        const CommandResult rest = train(config, folder / "run", concat(options, " --set schedule.total_steps=", step + 1));
        CHECK(missing_words(rest.err, {concat("going on from step ", step)}) == "");
    }
}

TEST_CASE("a signal to either rank ends the wait of both for data that does not come") {
    NEEDS_TRAIN();
    for (const std::size_t asked : {0U, 1U}) {
        const TemporaryFolder folder;
        const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}});
        Process process(with_fault("FAULT_CALL=pread FAULT_FILE=.h5", folder / "now",
                                   train_command(config, folder / "run", "--local-ranks 2")));
        REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") >= 4; }));
        write_text(folder / "now", "");
        std::size_t steps = 0;
        REQUIRE(wait_until(process, [&] {  // stands still
            const std::size_t before = std::exchange(steps, steps_of(folder / "run"));
            sleep_seconds(1);
            return before == steps;
        }));
        const auto ranks = children_of(process.pid());
        REQUIRE(ranks.size() == 2);
        ::kill(ranks[asked], SIGTERM);
        CHECK(wait_for_end(process) == 143);
        CHECK(run_command(train_program + " inspect --verify " + (folder / "run").string()).exit_code == 0);
    }
}

TEST_CASE("a long step is left between two micro-batches, and done again when the run goes on") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, long_steps());
    for (const std::string options : {"", "--local-ranks 2 --set batch.global_batch_size=3000"}) {
        const fs::path run = folder / concat("run", options.size());
        Process process(train_command(config, run, options));
        REQUIRE(wait_until(process, [&] { return fs::exists(run / "settings.json"); }));
        sleep_seconds(1);
        process.send(SIGTERM);
        CHECK(wait_for_end(process) == 143);
        CHECK(steps_of(run) == 0);
        CHECK(missing_words(read_text(run / "log.txt"), {"stopped by signal 15 after step 0"}) == "");
    }
}

TEST_CASE("an evaluation that is interrupted is made up for when the run goes on") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config =
        write_experiment(folder, {{"model", {{"num_hidden_layers", 6}, {"hidden_size", 128}}},
                                  {"schedule", {{"total_steps", 2}}},
                                  {"evaluation", {{"every_steps", 1}, {"micro_batch_size", 1}, {"max_sequences", 0}}}});
    REQUIRE(train(config, folder / "undisturbed").exit_code == 0);
    const fs::path run = folder / "run";
    Process process(train_command(config, run));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 1; }));
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 143);
    CHECK(numbers_of(run).size() == 1);  // the step, but no evaluation
    check_goes_on(config, run, folder / "undisturbed");
}

TEST_CASE("a signal while a checkpoint is written leaves after it; one 2 s later at once, and the last checkpoint stays") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    {
        Process process(
            with_fault("FAULT_CALL=fsync FAULT_FILE=step_", folder / "now", train_command(finished_run().config, run)));
        REQUIRE(wait_until(process, [&] { return complete_checkpoints(run) > 0; }));
        write_text(folder / "now", "");
        sleep_seconds(0.5);
        process.send(SIGTERM);
        CHECK(wait_for_end(process, 2.5) == -1);  // it waits for the disk, which does not answer
        process.send(SIGTERM);
        CHECK(wait_for_end(process, 5) == 143);
    }
    CHECK(complete_checkpoints(run) > 0);
    check_goes_on(finished_run().config, run, finished_run().run);
}

TEST_CASE("SIGUSR1 to any rank saves, and the run goes on") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config =
        write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"checkpoint", {{"save_every_steps", 0}}}});
    Process process(train_command(config, folder / "run", "--local-ranks 2"));
    REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") >= 4; }));
    const auto ranks = children_of(process.pid());
    REQUIRE(ranks.size() == 2);
    CHECK_FALSE(fs::exists(folder / "run/checkpoints"));
    ::kill(ranks[1], SIGUSR1);
    REQUIRE(wait_until(process, [&] { return complete_checkpoints(folder / "run") == 1; }));
    const std::size_t then = steps_of(folder / "run");
    CHECK(wait_until(process, [&] { return steps_of(folder / "run") >= then + 5; }));
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 143);
    CHECK(complete_checkpoints(folder / "run") == 2);
}
