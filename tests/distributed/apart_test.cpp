// Ranks that share no file system can save and resume too: their part goes through rank 0.

#include <list>

#include "core/error.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/small_disk.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;

namespace {

/// Rank `rank` of 3; where rank 0 keeps its runs, the other ranks each have an empty disk of their own.
std::string rank_apart(int rank, const fs::path& runs, const std::string& command, int port) {
    const std::string as_rank = concat("env RANK=", rank, " WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=", port, " ", command);
    if (rank == 0) return as_rank;
    return in_mount_namespace(concat("mount -t tmpfs -o size=1m none ", runs.string(), " && exec ", as_rank));
}

/// @returns the exit codes of the three ranks, which get SIGTERM after `stop_after` steps if they take that many
std::vector<int> run_apart(const fs::path& config, const fs::path& run, int port, std::int64_t stop_after) {
    std::list<Process> ranks;
    for (const int rank : {0, 1, 2}) ranks.emplace_back(rank_apart(rank, run.parent_path(), train_command(config, run), port));
    if (wait_until(ranks.front(), [&] { return last_step(run) >= stop_after; }))
        for (Process& rank : ranks) rank.send(SIGTERM);
    std::vector<int> codes;
    for (Process& rank : ranks) codes.push_back(rank.wait());
    return codes;
}

}  // namespace

TEST_CASE("ranks that do not see rank 0's folder train, save, stop and resume with the same bytes") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder, settings;
    const auto config = write_distributed_experiment(settings);
    REQUIRE(train(config, folder / "together", "--local-ranks 3").exit_code == 0);
    fs::create_directories(folder / "runs");
    const fs::path run = folder / "runs/apart";
    CHECK(run_apart(config, run, 29631, 12) == std::vector<int>{143, 143, 143});
    CHECK(last_step(run) < 30);
    CHECK(run_apart(config, run, 29632, 1000) == std::vector<int>{0, 0, 0});
    CHECK(missing_words(read_text(run / "log.txt"), {"2 of 3 ranks do not see it", "going on from step "}) == "");
    CHECK(largest_difference(folder / "together", run) == 0);
    for (const char* file : {"model.pt", "optimizer.pt"})
        CHECK((read_text(run / "checkpoints/step_00000030" / file) ==
               read_text(folder / "together/checkpoints/step_00000030" / file)));
}
