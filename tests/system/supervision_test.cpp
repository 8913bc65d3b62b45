// scripts/run_until_done.sh restarts a run only if that can help.

#include <regex>
#include <set>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/process.h"
#include "system/run_progress.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// A run whose attempts are given in advance, one line of shell each; after the last one it succeeds.
class ToldRun {
public:
    explicit ToldRun(const std::vector<std::string>& attempts) {
        std::string script = "echo attempt >> '" + attempts_.string() + "'\ncase $(wc -l < '" + attempts_.string() + "') in\n";
        for (std::size_t i = 0; i < attempts.size(); ++i) script += concat(i + 1, ") ", attempts[i], " ;;\n");
        fs::create_directories(run_ / "checkpoints");
        write_text(script_, "cd '" + run_.string() + "'\n" + script + "esac\n");
    }

    std::string command() const {
        return "env RUN_UNTIL_DONE_PAUSE_SECONDS=0 scripts/run_until_done.sh " + run_.string() + " -- sh " + script_.string();
    }
    CommandResult supervise() const { return run_command(command()); }
    std::int64_t attempts() const {
        const std::string text = read_text(attempts_);
        return std::count(text.begin(), text.end(), '\n');
    }
    const fs::path& run() const { return run_; }

private:
    TemporaryFolder folder_;
    fs::path run_ = folder_ / "run", attempts_ = folder_ / "attempts", script_ = folder_ / "script";
};

/// Returns shell code that writes an exit.json as the program does, and ends with another status, as torchrun does.
std::string fails(int code, int status = 1) {
    return concat(R"(printf '{\n  "code": )", code, R"(,\n  "cause": "x",\n  "rank": 0\n}\n' > exit.json; exit )", status);
}

std::string saves(std::int64_t step) {
    return concat("mkdir -p checkpoints/step_0000000", step, "; touch checkpoints/step_0000000", step, "/COMPLETE.json; ");
}

/// Returns the codes in the first cells of a page's exit code table, with the last cell of each row.
std::map<std::string, std::string> exit_code_table(const fs::path& page) {
    std::map<std::string, std::string> table;
    const std::string text = read_text(page);
    const std::regex row(R"(\n\| (\d+|128 \+ n) \|[^\n]*\| ([^|\n]*) ?\|)");
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) table[(*at)[1]] = (*at)[2];
    return table;
}

const std::set<int> error_codes{2, 3, 4, 5, 6, 70};

bool is_locked(const fs::path& folder) { return run_command("flock --nonblock " + folder.string() + " true").exit_code != 0; }

}  // namespace

TEST_CASE("a run is not restarted on a host that computed wrongly, and is on any other") {
    const auto accuses = [](const std::string& host) {
        return concat(
            R"(printf '{\n  "code": 5,\n  "cause": "x",\n  "rank": 0,\n  "suspects": [\n    {\n      "rank": 1,\n      )",
            R"("host": "%s"\n    }\n  ]\n}\n' )", host, " > exit.json; exit 1");
    };
    const ToldRun here({accuses("$(hostname)")}), elsewhere({accuses("another-host")});
    const CommandResult result = here.supervise();
    CHECK(result.exit_code == 5);
    CHECK(here.attempts() == 1);
    CHECK_THAT(result.err, Catch::Contains("computes wrongly: not restarting"));
    CHECK(elsewhere.supervise().exit_code == 0);
    CHECK(elsewhere.attempts() == 2);
}

TEST_CASE("the pages' tables list the program's exit codes, and the script restarts as the tables say") {
    for (const ExitCode code :
         {ExitCode::config, ExitCode::data, ExitCode::checkpoint, ExitCode::distributed, ExitCode::numbers, ExitCode::bug})
        REQUIRE(error_codes.count(static_cast<int>(code)) == 1);
    const auto table = exit_code_table(PROJECT_FOLDER "/apps/bertpretrain/TROUBLESHOOTING.md");
    const std::string readme = read_text(PROJECT_FOLDER "/README.md");
    CHECK(table.size() == error_codes.size() + 2);  // and 0, and 128 + n
    CHECK(table.count("0") == 1);
    CHECK(table.count("128 + n") == 1);
    for (const int code : error_codes) {
        INFO("code " << code);
        REQUIRE(table.count(std::to_string(code)) == 1);
        const bool again = table.at(std::to_string(code)).rfind("yes", 0) == 0;
        const ToldRun by_record({fails(code)}), by_status({concat("exit ", code)});
        CHECK(by_record.supervise().exit_code == (again ? 0 : code));
        CHECK(by_record.attempts() == (again ? 2 : 1));
        CHECK(by_status.supervise().exit_code == (again ? 0 : code));
        CHECK(by_status.attempts() == (again ? 2 : 1));
        CHECK(std::regex_search(readme, std::regex(concat("\\b", code, " [a-z]"))));
    }
}

TEST_CASE("a killed command is restarted, one that a person stopped is not") {
    const ToldRun killed({"kill -KILL $$", "kill -SEGV $$"}), stopped({fails(143)}), interrupted({"exit 130"});
    CHECK(killed.supervise().exit_code == 0);
    CHECK(killed.attempts() == 3);
    CHECK(stopped.supervise().exit_code == 143);
    CHECK(stopped.attempts() == 1);
    CHECK(interrupted.supervise().exit_code == 130);
    CHECK(interrupted.attempts() == 1);
}

TEST_CASE("after three restarts without a newer checkpoint the script ends with the last code; a checkpoint allows three more") {
    const ToldRun stuck(std::vector<std::string>(10, fails(5)));
    const CommandResult result = stuck.supervise();
    CHECK(result.exit_code == 5);
    CHECK(stuck.attempts() == 4);
    CHECK(result.err.find("3 restarts without a newer checkpoint") != std::string::npos);
    const ToldRun slow({fails(5), fails(5), saves(1) + fails(5), fails(5), fails(5), saves(2) + fails(5), fails(5)});
    CHECK(slow.supervise().exit_code == 0);
    CHECK(slow.attempts() == 8);
}

TEST_CASE("a restarted command gets BERTPRETRAIN_RESTART") {
    const std::string note = "echo \"again: ${BERTPRETRAIN_RESTART:-no}\" >> told; ";
    const ToldRun run({note + "exit 5", note});
    CHECK(run.supervise().exit_code == 0);
    CHECK(read_text(run.run() / "told") == "again: no\nagain: 1\n");
}

TEST_CASE("an exit.json left by an earlier run is ignored") {
    const ToldRun run({"exit 5"});
    write_text(run.run() / "exit.json", "{\n  \"code\": 3,\n  \"cause\": \"long ago\"\n}\n");
    CHECK(run.supervise().exit_code == 0);
    CHECK(run.attempts() == 2);
}

TEST_CASE("a signal to the script reaches the command once, and nothing is restarted") {
    const ToldRun run({"trap 'echo asked >> asked; sleep 0.2; exit 143' TERM; touch ready; while :; do sleep 0.01; done"});
    Process script(run.command());
    REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
    script.send(SIGTERM);
    CHECK(script.wait() == 143);
    CHECK(run.attempts() == 1);
    CHECK(read_text(run.run() / "asked") == "asked\n");
}

TEST_CASE("after every stop signal of the program the script ends with the same code") {
    for (const int code : {129, 130, 131, 140, 142, 143, 152}) {
        CAPTURE(code);
        const ToldRun run({fails(code)});
        CHECK(run.supervise().exit_code == code);
        CHECK(run.attempts() == 1);
    }
}

TEST_CASE("a stop signal reaches the command, as SIGTERM where torchrun knows no other, and the script has the signal's code") {
    const auto [sent, received, name] = GENERATE(table<int, int, std::string>({{SIGHUP, SIGHUP, "HUP"},
                                                                               {SIGQUIT, SIGQUIT, "QUIT"},
                                                                               {SIGUSR2, SIGTERM, "TERM"},
                                                                               {SIGALRM, SIGTERM, "TERM"},
                                                                               {SIGXCPU, SIGTERM, "TERM"}}));
    CAPTURE(sent);
    const ToldRun run(
        {concat("trap 'echo asked >> asked; exit ", 128 + received, "' ", name, "; touch ready; while :; do sleep 0.01; done")});
    Process script(run.command());
    REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
    script.send(sent);
    CHECK(script.wait() == 128 + sent);
    CHECK(run.attempts() == 1);
    CHECK(read_text(run.run() / "asked") == "asked\n");
}

TEST_CASE("SIGUSR1 to the script makes a run save and go on, and does not reach a command that it would end") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100'000}}},
                                                      {"checkpoint", {{"save_every_steps", 0}}},
                                                      {"evaluation", {{"every_steps", 0}}}});
    const fs::path run = folder / "run";
    Process script(concat("env OMP_NUM_THREADS=1 scripts/run_until_done.sh ", run.string(), " -- ", train_program, " train ",
                          config.string(), " --output ", run.string()));
    REQUIRE(wait_until(script, [&] { return steps_of(run) > 2; }));
    script.send(SIGUSR1);
    CHECK(wait_until(script, [&] { return complete_checkpoints(run) == 1; }));
    const std::size_t steps = steps_of(run);
    CHECK(wait_until(script, [&] { return steps_of(run) > steps; }));
    script.send(SIGTERM);
    CHECK(script.wait() == 143);

    const ToldRun other({"touch ready; while [ ! -e end ]; do sleep 0.01; done"});
    Process spared(other.command());
    REQUIRE(wait_until(spared, [&] { return fs::exists(other.run() / "ready"); }));
    spared.send(SIGUSR1);
    sleep_seconds(0.2);
    write_text(other.run() / "end", "");
    CHECK(spared.wait() == 0);
    CHECK(other.attempts() == 1);
}

TEST_CASE("a script started by nohup continues when its terminal is closed") {
    const ToldRun run({"touch ready; while [ ! -e end ]; do sleep 0.01; done"});
    Process script("sh -c 'trap \"\" HUP; exec " + run.command() + "'");
    REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
    script.send(SIGHUP);
    sleep_seconds(0.2);
    write_text(run.run() / "end", "");
    CHECK(script.wait() == 0);
}

TEST_CASE("if the last save of a stopped run failed, the script ends with the run's own code") {
    const ToldRun run({"trap 'cp lost exit.json; exit 1' TERM; touch ready; while :; do sleep 0.01; done"});
    write_text(run.run() / "lost", "{\n  \"code\": 5,\n  \"cause\": \"x\",\n  \"rank\": 0\n}\n");
    Process script(run.command());
    REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
    script.send(SIGTERM);
    CHECK(script.wait() == 5);
    CHECK(run.attempts() == 1);
}

TEST_CASE("the program waits for a folder that another process soon releases, alone and with local ranks") {
    NEEDS_TRAIN();
    for (const std::string options : {"", "--local-ranks 2"}) {
        CAPTURE(options);
        const TemporaryFolder folder;
        const fs::path run = folder / "run";
        fs::create_directory(run);
        Process earlier(concat("flock --no-fork ", run.string(), " sleep 8"));  // longer than the default wait
        REQUIRE(wait_until(earlier, [&] { return is_locked(run); }));
        const std::string command = train_command(finished_run().config, run, options);
        const CommandResult result = run_command(concat("scripts/run_until_done.sh ", run.string(), " -- ", command));
        INFO(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.err.find("another process is training in this folder; waiting up to 120 s") != std::string::npos);
    }
}

TEST_CASE("if another process holds the folder for longer than the limit, the script ends with code 2") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    fs::create_directory(run);
    Process earlier(concat("flock --no-fork ", run.string(), " sleep 60"));
    REQUIRE(wait_until(earlier, [&] { return is_locked(run); }));
    const std::string command = train_command(finished_run().config, run);
    const CommandResult result =
        run_command(concat("BERTPRETRAIN_LOCK_SECONDS=1 scripts/run_until_done.sh ", run.string(), " -- ", command));
    CHECK(result.exit_code == 2);
    CHECK(missing_words(result.err, {"another process is training in this folder; wait for it"}) == "");
}

TEST_CASE("a missing command, and a request without one, end the script at once") {
    const TemporaryFolder folder;
    CHECK(run_command("scripts/run_until_done.sh " + folder.path().string() + " -- /does/not/exist").exit_code == 127);
    CHECK(run_command("scripts/run_until_done.sh " + folder.path().string() + " true").exit_code == 2);
}
