// A file that only rank 0 writes ends all ranks at once if it cannot be written.

#include <chrono>

#include "core/strings.h"
#include "distributed/listeners.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/free_port.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Checks that both ranks end a run in which a folder is in the place of rank 0's `file`, long before their timeout.
void check_all_leave(const std::string& file, const std::string& options, int code, const std::string& word) {
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"parallel", {{"first_step_timeout_seconds", 300}}}});
    fs::create_directories(folder / "run");
    if (!file.empty()) fs::create_directories(folder / "run" / file / "in_the_way");
    INFO(file + options);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(train_two(config, folder / "run", options, options) == std::vector<int>{code, code});
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
    CHECK(missing_words(read_text(folder / "run/exit.json"), {word}) == "");
}

}  // namespace

TEST_CASE("a file that rank 0 cannot write at the start ends all ranks at once with the same code") {
    NEEDS_TRAIN();
    check_all_leave("log.txt", "", 2, "log.txt");
    check_all_leave("metrics.jsonl", "", 3, "metrics.jsonl");
    check_all_leave("settings.json", "", 3, "settings.json");
}

TEST_CASE("an address at which rank 0 cannot serve metrics ends all ranks at once") {
    NEEDS_TRAIN();
    check_all_leave("", "--metrics-address 203.0.113.1:9400", 2, "--metrics-address 203.0.113.1:9400");
}

TEST_CASE("a rank 0 that is stopped while ranks join ends the others within their timeout") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"parallel", {{"first_step_timeout_seconds", 5}}}});
    const int port = free_port();
    const auto command = [&](int rank) {  // of three ranks, of which the last never comes
        return concat("env RANK=", rank, " WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=", port, " ",
                      train_command(config, folder / "run", ""));
    };
    Process first(command(0));
    REQUIRE(wait_until(first, [&] { return !listeners_of(first.pid()).empty(); }));
    first.send(SIGSTOP);
    Process second(command(1));
    REQUIRE(wait_until(second, [&] { return second.ended(); }));
    CHECK(second.wait() == 5);
}
