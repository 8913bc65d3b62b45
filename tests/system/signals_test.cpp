// A run that gets a stop signal saves and exits in any phase, and the same command resumes it.

#include <random>

#include "system/run_progress.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Many micro-batches of one sample: steps of several seconds.
nlohmann::json long_steps() {
    return {{"batch", {{"micro_batch_size", 1}, {"gradient_accumulation_steps", 3000}}}, {"schedule", {{"total_steps", 3}}}};
}

}  // namespace

TEST_CASE("a signal during startup ends the run at once, on one rank and on two, without damage") {
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
        // not after its first step: the measured start may have been slower
        wait_until(process, [&] { return std::chrono::steady_clock::now() - begin > pause || steps_of(folder / "run") > 0; });
        process.send(SIGTERM);
        CHECK(wait_for_end(process) == 143);
        if (options.empty()) check_goes_on(finished_run().config, folder / "run", finished_run().run);
    }
}

TEST_CASE("after a stop signal the present step is saved, and the same command resumes from it") {
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
        CHECK(missing_words(read_text(folder / "run/log.txt"),
                            {concat("stopped by signal ", signal, " after step ", step, "; its checkpoint is saved in "),
                             concat("checkpoints/step_", std::string(8 - std::to_string(step).size(), '0'), step)}) == "");
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

TEST_CASE("stop signals that launcher and ranks get within milliseconds count as one request, and the run saves") {
    NEEDS_TRAIN();
    for (const std::string options : {"", "--local-ranks 2"}) {
        CAPTURE(options);
        const TemporaryFolder folder;
        const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}});
        Process process(train_command(config, folder / "run", options));
        REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") >= 4; }));
        const auto ranks = children_of(process.pid());
        const double begin = seconds_now();
        for (int delivery = 0; delivery < 3; ++delivery) {  // systemd signals every process of a unit, and a launcher its ranks
            process.send(SIGTERM);
            process.send(SIGUSR1);
            for (const pid_t rank : ranks) ::kill(rank, SIGTERM);
            sleep_seconds(0.005);
        }
        const bool is_one_request = seconds_now() - begin < 1.9;  // a machine so busy that this takes two seconds shows nothing
        CHECK(wait_for_end(process) == 143);
        if (!is_one_request) continue;
        CHECK(recorded_code(folder / "run") == 143);
        const std::size_t step = steps_of(folder / "run");
        const CommandResult rest = train(config, folder / "run", concat(options, " --set schedule.total_steps=", step + 1));
        CHECK(missing_words(rest.err, {concat("going on from step ", step)}) == "");
    }
}

TEST_CASE("a signal to either rank ends the wait of both for data that never arrives") {
    NEEDS_TRAIN();
    for (const std::size_t asked : {0U, 1U}) {
        const TemporaryFolder folder;
        const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}});
        Process process(with_fault("FAULT_CALL=pread FAULT_FILE=.h5", folder / "now",
                                   train_command(config, folder / "run", "--local-ranks 2")));
        REQUIRE(wait_until(process, [&] { return steps_of(folder / "run") >= 4; }));
        write_text(folder / "now", "");
        REQUIRE(stands_still(process, folder / "run", folder / "now"));
        const auto ranks = children_of(process.pid());
        REQUIRE(ranks.size() == 2);
        ::kill(ranks[asked], SIGTERM);
        CHECK(wait_for_end(process) == 143);
        CHECK(run_command(train_program + " inspect --verify " + (folder / "run").string()).exit_code == 0);
    }
}

TEST_CASE("a long step is interrupted between two micro-batches, and repeated after the resume") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, long_steps());
    for (const std::string options : {"", "--local-ranks 2 --set batch.global_batch_size=3000"}) {
        const fs::path run = folder / concat("run", options.size());
        Process process(train_command(config, run, options));
        REQUIRE(
            wait_until(process, [&] { return steps_of(run) == 1; }));  // the second step has begun, however busy the machine is
        process.send(SIGTERM);
        CHECK(wait_for_end(process) == 143);
        CHECK(steps_of(run) == 1);
        CHECK(missing_words(read_text(run / "log.txt"), {"stopped by signal 15 after step 1"}) == "");
    }
}

TEST_CASE("an interrupted evaluation is repeated after the resume") {
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

TEST_CASE("a signal during a save exits after the save, a second one 2 s later at once, and the last checkpoint stays") {
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
        CHECK(wait_for_end(process, 60) == 143);  // the disk never answers
    }
    CHECK(complete_checkpoints(run) > 0);
    check_goes_on(finished_run().config, run, finished_run().run);
}

TEST_CASE("SIGUSR1 to any rank saves, and the run continues") {
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

TEST_CASE("if a rank dies while the others save, the stop is a failure with exit 5 in exit.json") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config =
        write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"checkpoint", {{"save_every_steps", 0}}}});
    const std::string fault = concat("FAULT_RANK=1 FAULT_CALL=fsync FAULT_FILE=step_ FAULT_ONCE=", (folder / "struck").string());
    write_text(folder / "now", "");
    Process process(with_fault(fault, folder / "now", train_command(config, run, "--local-ranks 2")));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
    const auto ranks = children_of(process.pid());
    REQUIRE(ranks.size() == 2);
    process.send(SIGTERM);
    REQUIRE(wait_until(process, [&] { return fs::exists(folder / "struck"); }));  // rank 1 is in the middle of its save
    ::kill(ranks[1], SIGKILL);
    CHECK(wait_for_end(process) == 5);
    CHECK(recorded_code(run) == 5);
    CHECK(complete_checkpoints(run) == 0);
}
