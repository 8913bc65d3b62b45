// What people see on a terminal of 80 columns.

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;

namespace {

/// Returns what on_terminal.py says of a command line.
nlohmann::json on_terminal(const std::string& command) {
    const CommandResult result = run_command(concat(python(), " " PROJECT_FOLDER "/tests/system/on_terminal.py 80 ", command));
    INFO(command << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    return nlohmann::json::parse(result.out);
}

/// Whether a process is one of our programs, and has installed its handler for SIGTERM.
bool is_ready(const Process& process) {
    const std::string folder = concat("/proc/", process.pid());
    std::error_code ended;
    if (!fs::read_symlink(folder + "/exe", ended).filename().string().starts_with("bertpretrain")) return false;
    std::istringstream status(read_text(folder + "/status"));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
    return false;
}

}  // namespace

TEST_CASE("no command prints a table or draws a line that is wider than the terminal") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const SampleData& data = sample_data();
    const FinishedRun& finished = finished_run();
    const fs::path other = folder / "a_second_run_with_a_long_name";
    REQUIRE(train(finished.config, other, "--set schedule.total_steps=10 --set optimizer.learning_rate=0.002").exit_code == 0);
    const std::string run = finished.run.string(), config = finished.config.string(), runs = concat(run, " ", other.string());
    const std::string text = data.text.string(), vocabulary = data.vocabulary.string(), shards = data.shards.string();
    std::vector<std::string> commands;
    for (const std::string& of_data :
         {concat("extract ", text, " --output ", (folder / "text").string()),
          concat("deduplicate ", text, " --output ", (folder / "distinct").string()),
          concat("vocabulary ", text, " --size 800 --output ", (folder / "vocabulary").string()),
          concat("shard ", text, " --vocabulary ", vocabulary, " --output ", (folder / "shards").string(), " --shards 2"),
          concat("check ", shards)})
        commands.push_back(data_program + " " + of_data);
    for (const std::string& of_training :
         {concat("config check ", config), concat("config resolve ", config), concat("config explain"),
          concat("config compare ", runs), concat("report ", runs), concat("report ", runs, " --target mlm_loss=6"),
          concat("report ", runs, " --scaling"), concat("inspect ", run), concat("plan ", config),
          concat("preflight ", config, " --output ", (folder / "new").string()), concat("audit ", run),
          concat("compare ", runs, " --bound 1"), concat("evaluate ", run, " --shards ", shards)})
        commands.push_back("env OMP_NUM_THREADS=1 " + train_program + " " + of_training);  // as the runs: audit compares bits
    commands.push_back(train_command(finished.config, folder / "run"));
    for (const std::string& command : commands) {
        const nlohmann::json shown = on_terminal(command);
        INFO(command << "\n" << shown.at("text").get<std::string>());
        CHECK(shown.at("code") == 0);
        CHECK(shown.at("wide") == nlohmann::json::array());
    }
}

TEST_CASE("the line of training begins with the step and the time that is left") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const nlohmann::json shown = on_terminal(train_command(finished_run().config, folder / "run"));
    const std::string text = shown.at("text");
    INFO(text);
    CHECK(shown.at("drawn").get<int>() > 0);
    CHECK(text.find("\r\x1b[K[==========] 20/20 | eta 0.0s | loss ") != std::string::npos);
    CHECK(text.find("complete: all 20 steps; to train on, raise schedule.total_steps") != std::string::npos);
}

TEST_CASE("an interrupted command says that its output is not complete and what to do, and ends by the signal") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string input = (folder / "input").string(), errors = (folder / "errors").string();
    REQUIRE(::mkfifo(input.c_str(), 0600) == 0);  // the command waits for its writer
    const int signal = GENERATE(SIGINT, SIGTERM);
    const std::string command = GENERATE("extract", "deduplicate", "vocabulary --size 800", "embed");
    const std::string output = (folder / (command == "embed" ? "output.npy" : "output")).string();
    const std::string program =
        command == "embed" ? concat(train_program, " embed ", finished_run().run.string()) : concat(data_program, " ", command);
    Process process(concat("sh -c 'exec ", program, " ", input, " --output ", output, " 2>", errors, "'"));
    REQUIRE(wait_until(process, [&] { return is_ready(process); }));
    process.send(signal);
    CHECK(process.wait() == 128 + signal);
    CHECK(missing_words(read_text(errors),
                        {concat("interrupted: ", output, " is not complete\n  do: run the same command again\n")}) == "");
}

TEST_CASE("an interrupted export or average says what to remove, and then the same command works") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string output = (folder / "output").string(), reached = (folder / "reached").string(),
                      errors = (folder / "errors").string();
    const auto [command, remains] =
        GENERATE(std::pair("export --format hf ", ".partial"), std::pair("average --steps 15,20 ", ""));
    const std::string whole =
        concat("env OMP_NUM_THREADS=1 ", train_program, " ", command, finished_run().run.string(), " --output ", output);
    Process process(concat("sh -c 'exec env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_CALL=fsync FAULT_FILE=", output,
                           " FAULT_DO=hang FAULT_REACHED=", reached, " ", whole, " 2>", errors, "'"));
    REQUIRE(wait_until(process, [&] { return fs::exists(reached); }));
    process.send(SIGINT);
    CHECK(process.wait() == 128 + SIGINT);
    CHECK(missing_words(read_text(errors), {concat("do: remove ", output, remains, ", then run the same command again")}) == "");
    CHECK(run_command(whole).exit_code == 2);
    fs::remove_all(output + remains);
    CHECK(run_command(whole).exit_code == 0);
}
