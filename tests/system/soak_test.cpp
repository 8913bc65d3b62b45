// The memory, files and threads of a long run do not grow.
//   BERTPRETRAIN_SOAK_MINUTES: how long (15)

#include <cstdlib>
#include <iostream>
#include <random>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "support/catch.h"
#include "support/holding.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// One start of the run, up to its kill: the largest resources of a rank in each third of that time.
using Life = std::array<Holding, 3>;

double minutes() {
    const char* asked = std::getenv("BERTPRETRAIN_SOAK_MINUTES");
    return asked == nullptr ? 15 : std::stod(asked);
}

std::vector<pid_t> ranks_of(pid_t script) {
    const std::vector<pid_t> launchers = children_of(script);
    return launchers.empty() ? std::vector<pid_t>{} : children_of(launchers.front());
}

/// Watches the ranks for this many seconds.
Life watch(Process& process, double seconds) {
    Life life;
    const double begin = seconds_now();
    for (double age = 0; age < seconds && !process.ended(); age = seconds_now() - begin) {
        for (const pid_t rank : ranks_of(process.pid()))
            if (const auto holding = holding_of(rank)) {
                Holding& most = life[std::min<std::size_t>(2, static_cast<std::size_t>(3 * age / seconds))];
                most = larger(most, *holding);
            }
        sleep_seconds(0.25);
    }
    return life;
}

}  // namespace

TEST_CASE("memory, files and threads stay flat while a run saves, evaluates and is killed once a minute", "[.long]") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 10000000}}},
                                                      {"batch", {{"global_batch_size", 64}}},
                                                      {"checkpoint", {{"save_every_steps", 20}, {"keep_last", 3}}},
                                                      {"evaluation", {{"every_steps", 30}, {"max_sequences", 64}}}});
    Process process(concat("env RUN_UNTIL_DONE_PAUSE_SECONDS=0.5 scripts/run_until_done.sh ", run.string(), " -- ",
                           train_command(config, run, "--local-ranks 2")));
    std::mt19937 random(std::random_device{}());
    Table table({"life", "MiB in thirds", "files", "threads"});
    std::vector<Life> lives;
    for (int number = 1; number <= static_cast<int>(minutes()); ++number) {
        const Life life = watch(process, 60);
        REQUIRE_FALSE(process.ended());
        lives.push_back(life);
        table.add({std::to_string(number), concat(fixed(life[0].mib, 1), " ", fixed(life[1].mib, 1), " ", fixed(life[2].mib, 1)),
                   concat(life[0].files, " ", life[1].files, " ", life[2].files),
                   concat(life[0].threads, " ", life[1].threads, " ", life[2].threads)});
        const std::vector<pid_t> ranks = ranks_of(process.pid());
        REQUIRE(ranks.size() == 2);
        // The last life ends by SIGTERM alone: with a rank missing, the run cannot save and would end with 5.
        if (number < static_cast<int>(minutes())) ::kill(ranks[random() % 2], SIGKILL);
    }
    process.send(SIGTERM);
    CHECK(process.wait() == 143);
    CHECK(run_command(train_program + " inspect --verify " + run.string()).exit_code == 0);
    std::cout << table.text() << "steps: " << numbers_of(run).size() << "\n";
    for (const Life& life : lives) {
        CHECK(life[2].mib <= 1.05 * life[1].mib + 4);
        CHECK(life[2].mib <= 1.05 * lives.front()[2].mib + 4);
        CHECK(life[2].files <= life[1].files + 1);
        CHECK(life[2].files <= lives.front()[2].files + 1);
        CHECK(life[2].threads <= life[1].threads);
        CHECK(life[2].threads <= lives.front()[2].threads);
    }
}
