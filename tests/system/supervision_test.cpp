// scripts/run_until_done.sh: what is started again, and what is left to people.

#include <regex>
#include <set>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// A run whose attempts are told beforehand, a line of shell each; after the last it is done.
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

/// Shell that leaves an exit.json as the program does, and ends with another status, as torchrun does.
std::string fails(int code, int status = 1) {
    return concat(R"(printf '{\n  "code": )", code, R"(,\n  "cause": "x",\n  "rank": 0\n}\n' > exit.json; exit )", status);
}

std::string saves(std::int64_t step) {
    return concat("mkdir -p checkpoints/step_0000000", step, "; touch checkpoints/step_0000000", step, "/COMPLETE.json; ");
}

/// Codes at the beginnings of the rows of a table of a page, with the last cell.
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

TEST_CASE("exit codes are the program's in every table, and what the tables say of starting again is what the script does") {
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

TEST_CASE("a killed command is started again, one that a person stopped is not") {
    const ToldRun killed({"kill -KILL $$", "kill -SEGV $$"}), stopped({fails(143)}), interrupted({"exit 130"});
    CHECK(killed.supervise().exit_code == 0);
    CHECK(killed.attempts() == 3);
    CHECK(stopped.supervise().exit_code == 143);
    CHECK(stopped.attempts() == 1);
    CHECK(interrupted.supervise().exit_code == 130);
    CHECK(interrupted.attempts() == 1);
}

TEST_CASE("three restarts without a newer checkpoint are the end, with the last code; a checkpoint makes them three again") {
    const ToldRun stuck(std::vector<std::string>(10, fails(5)));
    const CommandResult result = stuck.supervise();
    CHECK(result.exit_code == 5);
    CHECK(stuck.attempts() == 4);
    CHECK(result.err.find("3 restarts without a newer checkpoint") != std::string::npos);
    const ToldRun slow({fails(5), fails(5), saves(1) + fails(5), fails(5), fails(5), saves(2) + fails(5), fails(5)});
    CHECK(slow.supervise().exit_code == 0);
    CHECK(slow.attempts() == 8);
}

TEST_CASE("a command is told that it is started again") {
    const std::string note = "echo \"again: ${BERTPRETRAIN_RESTART:-no}\" >> told; ";
    const ToldRun run({note + "exit 5", note});
    CHECK(run.supervise().exit_code == 0);
    CHECK(read_text(run.run() / "told") == "again: no\nagain: 1\n");
}

TEST_CASE("a record that an earlier run left behind is not taken for this one's") {
    const ToldRun run({"exit 5"});
    write_text(run.run() / "exit.json", "{\n  \"code\": 3,\n  \"cause\": \"long ago\"\n}\n");
    CHECK(run.supervise().exit_code == 0);
    CHECK(run.attempts() == 2);
}

TEST_CASE("a signal to the script reaches the command once, and nothing is started again") {
    const ToldRun run({"trap 'echo asked >> asked; sleep 0.2; exit 143' TERM; touch ready; while :; do sleep 0.01; done"});
    Process script(run.command());
    REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
    script.send(SIGTERM);
    CHECK(script.wait() == 143);
    CHECK(run.attempts() == 1);
    CHECK(read_text(run.run() / "asked") == "asked\n");
}

TEST_CASE("every signal that asks the program to stop is the end, with the same code") {
    for (const int code : {129, 130, 131, 140, 142, 143, 152}) {
        CAPTURE(code);
        const ToldRun run({fails(code)});
        CHECK(run.supervise().exit_code == code);
        CHECK(run.attempts() == 1);
    }
}

TEST_CASE("a closed terminal, and SIGQUIT, reach the command through the script, which then ends so") {
    for (const auto& [name, number] : {std::pair("HUP", SIGHUP), std::pair("QUIT", SIGQUIT)}) {
        CAPTURE(name);
        const ToldRun run({concat("trap 'echo asked >> asked; exit ", 128 + number, "' ", name,
                                  "; touch ready; while :; do sleep 0.01; done")});
        Process script(run.command());
        REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
        script.send(number);
        CHECK(script.wait() == 128 + number);
        CHECK(run.attempts() == 1);
        CHECK(read_text(run.run() / "asked") == "asked\n");
    }
}

TEST_CASE("a script that nohup has started outlives its terminal") {
    const ToldRun run({"touch ready; while [ ! -e end ]; do sleep 0.01; done"});
    Process script("sh -c 'trap \"\" HUP; exec " + run.command() + "'");
    REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
    script.send(SIGHUP);
    sleep_seconds(0.2);
    write_text(run.run() / "end", "");
    CHECK(script.wait() == 0);
}

TEST_CASE("a stop whose last save was lost is no clean stop: the script ends with the run's own code") {
    const ToldRun run({"trap 'cp lost exit.json; exit 1' TERM; touch ready; while :; do sleep 0.01; done"});
    write_text(run.run() / "lost", "{\n  \"code\": 5,\n  \"cause\": \"x\",\n  \"rank\": 0\n}\n");
    Process script(run.command());
    REQUIRE(wait_until(script, [&] { return fs::exists(run.run() / "ready"); }));
    script.send(SIGTERM);
    CHECK(script.wait() == 5);
    CHECK(run.attempts() == 1);
}

TEST_CASE("a folder that another process is about to release is waited for, alone and with local ranks") {
    NEEDS_TRAIN();
    for (const std::string options : {"", "--local-ranks 2"}) {
        CAPTURE(options);
        const TemporaryFolder folder;
        const fs::path run = folder / "run";
        fs::create_directory(run);
        Process earlier(concat("flock --no-fork ", run.string(), " sleep 8"));  // longer than a process alone waits
        REQUIRE(wait_until(earlier, [&] { return is_locked(run); }));
        const std::string command = train_command(finished_run().config, run, options);
        const CommandResult result = run_command(concat("scripts/run_until_done.sh ", run.string(), " -- ", command));
        INFO(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.err.find("another process is training in this folder; waiting up to 120 s") != std::string::npos);
    }
}

TEST_CASE("a folder that another process holds for longer than the limit is given up, with code 2") {
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

TEST_CASE("a command that does not exist, and a request without one, are told at once") {
    const TemporaryFolder folder;
    CHECK(run_command("scripts/run_until_done.sh " + folder.path().string() + " -- /does/not/exist").exit_code == 127);
    CHECK(run_command("scripts/run_until_done.sh " + folder.path().string() + " true").exit_code == 2);
}
