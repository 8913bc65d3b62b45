// Phases on several ranks: the same results, kills, other world sizes, hosts that share no folder.
#include <csignal>

#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/free_port.h"
#include "support/process.h"
#include "system/run_progress.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const std::vector<std::string> folders{"phases/01_main", "phases/02_decay"};

fs::path write_phases(const TemporaryFolder& folder) {
    return write_distributed_experiment(
        folder, {{"phases",
                  {json{{"name", "main"}, {"batch", {{"warmup_steps", 12}, {"warmup_from", 5}, {"warmup_increment", 6}}}},
                   json{{"name", "decay"},
                        {"schedule", {{"name", "wsd"}, {"warmup_ratio", 0}, {"decay_ratio", 1}, {"total_steps", 20}}}}}}});
}

void check_difference(const fs::path& a, const fs::path& b, double bound) {
    for (const std::string& phase : folders) {
        CAPTURE(phase);
        CHECK(largest_difference(a / phase, b / phase) <= bound);
        CHECK(parameter_difference(a / phase, b / phase) <= bound);
    }
}

}  // namespace

TEST_CASE("1, 2 and 3 ranks train the same phases, also when they are killed or go on with another number") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_phases(folder);
    REQUIRE(train(config, folder / "1").exit_code == 0);
    for (const std::string ranks : {"2", "3"}) {
        CAPTURE(ranks);
        const CommandResult result = train(config, folder / ranks, "--local-ranks " + ranks);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        check_difference(folder / "1", folder / ranks, 1e-5);
    }
    for (const std::string& phase : folders) {
        Process process(train_command(config, folder / "killed", "--local-ranks 2"));
        REQUIRE(wait_until(process,
                           [&] { return fs::exists(folder / "killed" / phase) && steps_of(folder / "killed" / phase) > 11; }));
        for (const pid_t rank : children_of(process.pid())) ::kill(rank, SIGKILL);
        process.send(SIGKILL);
        process.wait();
    }
    fs::copy(folder / "killed", folder / "other", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    REQUIRE(train(config, folder / "killed", "--local-ranks 2").exit_code == 0);
    check_difference(folder / "2", folder / "killed", 0);
    REQUIRE(train(config, folder / "other", "--local-ranks 3").exit_code == 0);
    check_difference(folder / "1", folder / "other", 1e-5);
}

TEST_CASE("ranks of hosts that share no folder train the phases of one that does, to the bit") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_phases(folder), alone = folder / "run", shared = folder / "shared";
    REQUIRE(train(config, shared, "--local-ranks 2").exit_code == 0);
    const int port = free_port();
    const auto as_rank = [&](int rank, const fs::path& run) {
        return bertpretrain::concat("env RANK=", rank, " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=", port, " ",
                                    train_command(config, run));
    };
    const CommandResult result =
        run_command(as_rank(1, folder / "empty") + " >/dev/null 2>&1 & " + as_rank(0, alone) + "; code=$?; wait; exit $code");
    INFO(result.err);
    CHECK(result.exit_code == 0);
    check_difference(shared, alone, 0);
}

TEST_CASE("torchrun's ranks go through all phases") {
    NEEDS_TRAIN();
    NEEDS_TORCHRUN();
    const TemporaryFolder folder;
    const fs::path config = write_phases(folder);
    REQUIRE(train(config, folder / "expected", "--local-ranks 2").exit_code == 0);
    const CommandResult result =
        run_command("env OMP_NUM_THREADS=1 " + torchrun + " --standalone --nproc_per_node 2 --no-python " + train_program +
                    " train " + config.string() + " --output " + (folder / "run").string());
    INFO(result.err);
    CHECK(result.exit_code == 0);
    check_difference(folder / "expected", folder / "run", 0);
}
