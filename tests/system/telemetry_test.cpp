// Telemetry never blocks a step, uses the monotonic clock, and reports lines that it loses.

#include <cerrno>

#include <sys/resource.h>
#include <sys/wait.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

std::string with_fault(const std::string& fault, const std::string& command) {
    return concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so ", fault, " ", command);
}

/// Returns the value of bertpretrain_step in a run's metrics.prom; 0 if there is none yet.
double step_shown(const fs::path& run) {
    const std::string text = read_text(run / "metrics.prom"), name = "bertpretrain_step{run=\"run\"} ";
    const std::size_t at = text.find(name);
    return at == text.npos ? 0 : std::stod(text.substr(at + name.size()));
}

/// Returns a figure of the only run of `report --json`.
double reported(const fs::path& run, const std::string& key) {
    const CommandResult result = run_command(train_program + " report " + run.string() + " --json");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return nlohmann::json::parse(result.out).at("runs").at(0).at(key);
}

/// Returns the peak memory of a command, in bytes.
std::int64_t peak_bytes(const std::string& command) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl("/bin/sh", "sh", "-c", ("cd '" + project_folder() + "' && exec " + command + " >/dev/null 2>&1").c_str(),
                static_cast<char*>(nullptr));
        ::_exit(127);
    }
    int status = 0;
    rusage usage{};
    REQUIRE(::wait4(child, &status, 0, &usage) == child);
    REQUIRE(status == 0);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

TEST_CASE("a disk that never flushes metrics.prom blocks no step and no save") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    Process training(
        with_fault("FAULT_CALL=fsync FAULT_FILE=metrics.prom FAULT_DO=hang", train_command(finished_run().config, run)));
    CHECK(wait_until(training, [&] { return training.ended(); }));
    training.send(SIGKILL);
    CHECK(training.wait() == 0);
    CHECK(first_difference(numbers_of(run), numbers_of(finished_run().run)) == "");
    CHECK(fs::exists(run / "checkpoints/step_00000020/COMPLETE.json"));
}

TEST_CASE("a clock that is set back during a run stops neither metrics.prom nor the hours that report counts") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run";
    Process training(
        concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libclock_shim.so CLOCK_WHEN=", (folder / "back").string(), " ",
               train_command(config, run, "--set schedule.total_steps=1000000 --set checkpoint.save_every_steps=1000")));
    REQUIRE(wait_until(training, [&] { return step_shown(run) > 0; }));
    write_text(folder / "back", "");
    const double before = step_shown(run);
    CHECK(wait_until(training, [&] { return step_shown(run) > before; }));
    training.send(SIGTERM);
    CHECK(training.wait() == 128 + SIGTERM);
    CHECK(reported(run, "seconds") >= 7);  // metrics.prom was replaced after ten seconds
}

TEST_CASE("a run whose last lines cannot be written ends with exit 3 and reports how many are missing") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result =
        run_command(with_fault(concat("FAULT_FILE=/metrics.jsonl FAULT_DO=fail FAULT_CALL=write FAULT_ERROR=", ENOSPC,
                                      " FAULT_AFTER=4 FAULT_TIMES=1000000"),
                               train_command(finished_run().config, folder / "run")));
    INFO(result.err);
    CHECK(result.exit_code == 3);
    CHECK(missing_words(result.err, {"metrics.jsonl", "No space left on device", "18 line(s)"}) == "");
    CHECK(fs::exists(folder / "run/checkpoints/step_00000020/COMPLETE.json"));
}

TEST_CASE("a metrics.jsonl that is a device, which would drop its lines, is refused before training") {
    NEEDS_TRAIN();
    for (const std::string device : {"/dev/null", "/dev/full"}) {
        const TemporaryFolder folder;
        fs::create_directory(folder / "run");
        fs::create_symlink(device, folder / "run/metrics.jsonl");
        const CommandResult result = train(finished_run().config, folder / "run");
        INFO(result.err);
        CHECK(result.exit_code == 3);
        CHECK(missing_words(result.err, {"metrics.jsonl", "is not a regular file"}) == "");
    }
}

TEST_CASE("a folder name with invalid UTF-8 and escape sequences is printed safely on terminals and in metrics.prom") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "a\x1b[31mred\xff";
    const CommandResult trained = run_command(train_command(finished_run().config, "'" + run.string() + "'"));
    CHECK(trained.exit_code == 0);
    CHECK(missing_words(read_text(run / "metrics.prom"), {R"({run="a\\x1b[31mred\\xff"})"}) == "");
    CHECK((read_text(run / "metrics.prom") + trained.out + trained.err).find_first_of("\x1b\xff") == std::string::npos);
    for (const std::string command : {"report", "inspect", "inspect --verify"}) {
        const CommandResult shown = run_command(train_program + " " + command + " '" + run.string() + "'");
        INFO(command << ": " << shown.err);
        CHECK((shown.out + shown.err).find_first_of("\x1b\xff") == std::string::npos);
    }
    const fs::path page = folder / "page.html";
    CHECK(run_command(concat(train_program, " report '", run.string(), "' --output ", page.string())).exit_code == 0);
    CHECK(read_text(page).find_first_of("\x1b\xff") == std::string::npos);
}

TEST_CASE("a run's memory does not grow with the length of its metrics") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "short");
    copy_finished_run(folder / "long");
    const std::string lines = read_text(folder / "long/metrics.jsonl"), first = lines.substr(0, lines.find('\n') + 1);
    std::string history;
    while (history.size() < 60'000'000) history += first;
    write_text(folder / "long/metrics.jsonl", history + lines);
    const auto peak = [&](const std::string& name) {
        return peak_bytes(train_command(finished_run().config, folder / name, "--set schedule.total_steps=23"));
    };
    CHECK(peak("long") - peak("short") < 20'000'000);
}

TEST_CASE("report skips lines with impossible times, counts or durations, and prints a warning") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const fs::path run = folder / "run", metrics = run / "metrics.jsonl", events = run / "events.jsonl";
    const std::string as_it_was = run_command(train_program + " report " + run.string()).out;
    REQUIRE(as_it_was.find("run ") != std::string::npos);
    const std::string step = R"({"step":19,"samples":152,"mlm_loss":6.0,"step_seconds":1.0,"time":1.7e9)";
    const std::vector<std::string> impossible{R"({"step":-1,"time":1.7e9})",     step + R"(,"samples":-8})",
                                              step + R"(,"time":1e300})",        step + R"(,"time":-5})",
                                              step + R"(,"step_seconds":-1e9})", step + R"(,"step_seconds":1e300})"};
    std::string more;
    for (const std::string& line : impossible) more += line + "\n";
    write_text(metrics, read_text(metrics) + more);
    write_text(events, read_text(events) + R"({"time":"9999999-05-01T12:00:00.000Z","event":"save","step":20})" + "\n" +
                           R"({"time":"2024-05-01T12:00:00.000Z","event":"resume","step":-5,"ranks":1})" + "\n" +
                           R"({"time":"2024-05-01T12:00:00.000Z","event":"resume","step":20,"ranks":1000000000000})" + "\n");
    const CommandResult result = run_command(train_program + " report " + run.string());
    CHECK(result.exit_code == 0);
    CHECK(result.out == as_it_was);
    CHECK(missing_words(result.err, {"metrics.jsonl: skipped 6 damaged line(s)"}) == "");
}

TEST_CASE("an event about a step names at most 20 of its rows, and their number") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"batch", {{"micro_batch_size", 16}}}}), run = folder / "run";
    REQUIRE(train(config, run, "--set schedule.total_steps=3").exit_code == 0);
    REQUIRE(
        run_command(concat(WARM_PYTHON, " tests/system/spoil_weights.py ", (run / "checkpoints/step_00000003").string(), " 3e38"))
            .exit_code == 0);
    CHECK(train(config, run, "--set training.max_skipped_updates=2").exit_code == 6);
    std::size_t events = 0;
    for (const std::string& line : lines_so_far(run / "events.jsonl")) {
        const auto event = nlohmann::json::parse(line);
        if (event.at("event") != "skipped_update") continue;
        ++events;
        std::size_t rows = 0;
        for (const auto& [file, of_file] : event.at("rows").items()) rows += of_file.size();
        CHECK(rows == 20);
        CHECK(event.value("rows_in_all", 0) == 32);
    }
    CHECK(events == 2);
}
