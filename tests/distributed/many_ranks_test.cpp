// As many ranks as users have, as processes on this host: start, lose a rank, go on with fewer and with more.
//   BERTPRETRAIN_FEWEST_RANKS, BERTPRETRAIN_MOST_RANKS: the smallest and the largest number (8, 128)

#include <cstdlib>
#include <iostream>
#include <random>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/holding.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

int asked_for(const char* variable, int otherwise) {
    const char* asked = std::getenv(variable);
    return asked == nullptr ? otherwise : std::stoi(asked);
}

/// Like wait_until(), without its limit: 128 processes take minutes to start on two cores.
template <class Condition>
bool wait_long(Process& process, const Condition& holds) {
    while (!holds() && !process.ended()) sleep_seconds(0.1);
    return holds();
}

/// One start of a run with so many ranks.
struct Start {
    double seconds = 0;  ///< to the end of the first step
    Holding largest;     ///< of its ranks
    double all_mib = 0;  ///< of all ranks together
};

/// Starts the run, measures it after its first step, and waits until it has completed `step`.
Start start(Process& process, const fs::path& run, int ranks, std::int64_t step) {
    Start found;
    const double begin = seconds_now();
    const std::int64_t before = last_step(run);
    REQUIRE(wait_long(process, [&] { return last_step(run) > before; }));
    found.seconds = seconds_now() - begin;
    const std::vector<pid_t> processes = children_of(process.pid());
    REQUIRE(processes.size() == static_cast<std::size_t>(ranks));
    for (const pid_t rank : processes) {
        auto holding = holding_of(rank);
        if (!holding) continue;  // it has ended since
        add_shared(rank, *holding);
        found.all_mib += holding->shared_mib;
        found.largest = larger(found.largest, *holding);
    }
    REQUIRE(wait_long(process, [&] { return last_step(run) >= step; }));
    return found;
}

std::vector<std::string> row(const std::string& what, int ranks, const Start& start) {
    return {what,
            std::to_string(ranks),
            fixed(start.seconds, 1),
            fixed(start.largest.mib, 0),
            fixed(start.all_mib / ranks, 0),
            std::to_string(start.largest.files),
            std::to_string(start.largest.threads)};
}

}  // namespace

TEST_CASE("8 to 128 ranks lose one, go on with fewer and with more, and end with the losses of a single rank", "[.long]") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config =
        write_distributed_experiment(folder, {{"batch", {{"micro_batch_size", 1}, {"global_batch_size", 128}}},
                                              {"parallel", {{"timeout_seconds", 300}, {"first_step_timeout_seconds", 1800}}},
                                              {"checkpoint", {{"save_every_steps", 5}}}});
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    Table table({"start", "ranks", "seconds to the first step", "MiB", "MiB of its own", "files", "threads"});
    std::mt19937 random(42);
    const int most = asked_for("BERTPRETRAIN_MOST_RANKS", 128);
    for (int ranks = asked_for("BERTPRETRAIN_FEWEST_RANKS", 8); ranks <= most; ranks *= 2) {
        CAPTURE(ranks);
        const fs::path run = folder / std::to_string(ranks);
        const auto command = [&](int number) { return train_command(config, run, concat("--local-ranks ", number)); };
        {
            Process process(command(ranks));
            table.add(row("first", ranks, start(process, run, ranks, 7)));
            const std::vector<pid_t> processes = children_of(process.pid());
            ::kill(processes[random() % processes.size()], SIGKILL);
            CHECK(process.wait() != 0);
        }
        {
            Process process(command(ranks / 2));
            table.add(row("fewer", ranks / 2, start(process, run, ranks / 2, 14)));
            process.send(SIGTERM);
            CHECK(process.wait() == 143);
        }
        const int more = std::min(2 * ranks, 128);
        Process process(command(more));
        table.add(row("more", more, start(process, run, more, 30)));
        CHECK(process.wait() == 0);
        CHECK(largest_difference(folder / "alone", run) < 1e-5);
        CHECK(parameter_difference(folder / "alone", run) < 1e-5);
        std::cout << table.text() << std::flush;
    }
}
