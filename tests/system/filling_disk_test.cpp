// A disk that another program fills while a run trains: what is lost, and that the run then goes on as if nothing had happened.

#include <iostream>
#include <map>
#include <sstream>

#include "core/concat.h"
#include "support/catch.h"
#include "support/small_disk.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;

namespace {

struct Filled {
    std::string out;  ///< "exit N", the newest checkpoint before, after, and after the next start
    int exit_code = -1, next = -1;
    std::int64_t before = 0, after = 0,
                 done = 0;  ///< steps: of the newest checkpoint when the disk was full and at the end; trained
    fs::path run;           ///< a copy of the run's folder after the next start
};

/// Trains on a disk of 200 MiB that is filled after `seconds`, frees it, and trains again.
/// @param takes_all whether what the run deletes is filled as well
Filled train_on_filling_disk(const TemporaryFolder& folder, const std::string& options, double seconds, bool takes_all) {
    const fs::path disk = folder / "disk", run = disk / "run";
    Filled filled;
    filled.run = folder / "copy";
    fs::remove_all(filled.run);
    fs::create_directories(disk);
    const std::string command = train_command(finished_run().config, run, options) + " 2>>" + (folder / "err").string();
    const std::string newest = "ls " + (run / "checkpoints").string() + " 2>/dev/null | grep '^step_[0-9]*$' | tail -1";
    const std::string fill = "cat /dev/zero >>" + (disk / "filler").string() + " 2>/dev/null; ";
    const std::string steps = "grep -c '\"loss\"' " + (run / "metrics.jsonl").string() + " || true; ";
    filled.out = run_command(in_mount_namespace(
                                 concat("mount -t tmpfs -o size=200m none ", disk.string(), " || exit 99; ", command,
                                        " & pid=$!; sleep ", seconds, "; ", fill, "echo \"before $(", newest, ")\"; ",
                                        takes_all ? "while kill -0 $pid 2>/dev/null; do " + fill + "sleep 0.01; done; " : "",
                                        "wait $pid; echo \"exit $?\"; echo \"after $(", newest, ")\"; echo \"done $(", steps,
                                        ")\"; rm ", (disk / "filler").string(), "; ", command, "; echo \"next $?\"; cp -r ",
                                        run.string(), " ", filled.run.string())))
                     .out;
    std::istringstream lines(filled.out);
    const auto step_of = [](const std::string& name) { return name.size() > 5 ? std::stoll(name.substr(5)) : 0; };
    for (std::string line; std::getline(lines, line);) {
        const std::string word = line.substr(0, line.find(' ')), value = line.substr(line.find(' ') + 1);
        if (word == "before") filled.before = step_of(value);
        if (word == "after") filled.after = step_of(value);
        if (word == "exit") filled.exit_code = std::stoi(value);
        if (word == "next") filled.next = std::stoi(value);
        if (word == "done" && !value.empty()) filled.done = std::stoll(value);
    }
    return filled;
}

}  // namespace

TEST_CASE(
    "a disk that fills at any moment costs no checkpoint that was complete, and the next start ends like an undisturbed run",
    "[.long]") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    const bool takes_all = GENERATE(false, true);
    std::map<std::pair<int, std::int64_t>, int> runs;  // exit code and steps lost -> number of runs
    for (int moment = 0; moment < 40; ++moment) {
        const Filled filled = train_on_filling_disk(folder, "", 0.05 * moment, takes_all);
        INFO("moment " << moment << "\n" << filled.out << read_text(folder / "err"));
        CHECK(filled.after >= filled.before);
        CHECK((filled.exit_code == 0 || filled.exit_code == 4 || (filled.exit_code <= 3 && filled.done == 0)));
        if (filled.exit_code == 0) CHECK(filled.after == 20);
        CHECK(filled.next == 0);
        CHECK(first_difference(numbers_of(filled.run), numbers_of(finished_run().run)) == "");
        CHECK((read_text(filled.run / "checkpoints/step_00000020/model.pt") ==
               read_text(finished_run().run / "checkpoints/step_00000020/model.pt")));
        ++runs[{filled.exit_code, filled.done - filled.after}];
        fs::remove(folder / "err");
    }
    std::cout << (takes_all ? "filled again and again" : "filled once") << ": exit code, steps lost, runs\n";
    for (const auto& [ended, number] : runs) std::cout << "  " << ended.first << "  " << ended.second << "  " << number << "\n";
}
