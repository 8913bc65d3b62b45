// What a process outside of the run can reach.
#include "core/error.h"
#include "distributed/hosts.h"
#include "distributed/listeners.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/free_port.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

fs::path write_long_experiment(const TemporaryFolder& folder) {
    return write_distributed_experiment(folder,
                                        {{"schedule", {{"total_steps", 100000}}}, {"checkpoint", {{"save_every_steps", 0}}}});
}

bool has_stepped(Process& process, const fs::path& run) {
    return wait_until(process, [&] { return fs::exists(run / "metrics.jsonl") && last_step(run) >= 3; });
}

std::string any_port() { return std::to_string(free_port()); }

/// The output and exit code of `train`.
struct Outcome {
    int code = -1;
    std::string err;
};

/// Runs two ranks of `train`, each with its own variables.
std::vector<Outcome> train_two_with(const TemporaryFolder& folder, const fs::path& config, const std::string& of_first,
                                    const std::string& of_second) {
    const std::string at = concat(" WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=", any_port(), " ");
    std::vector<std::unique_ptr<Process>> ranks;
    for (const std::string& variables : {of_first, of_second}) {
        const std::size_t rank = ranks.size();
        const std::string command = train_command(config, folder / "run");
        ranks.push_back(std::make_unique<Process>(concat("env RANK=", rank, at, variables, " sh -c 'exec ", command, " 2>",
                                                         (folder / ("err" + std::to_string(rank))).string(), "'")));
    }
    std::vector<Outcome> outcomes(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        outcomes[rank].code = ranks[rank]->wait();
        outcomes[rank].err = read_text(folder / ("err" + std::to_string(rank)));
    }
    return outcomes;
}

}  // namespace

TEST_CASE("ranks of --local-ranks listen only on the loopback interface, for any GLOO_SOCKET_IFNAME") {
    NEEDS_TRAIN();
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder;
    const auto config = write_long_experiment(folder);
    Process process(hosts.on(0, "env GLOO_SOCKET_IFNAME=wire " + train_command(config, folder / "run", "--local-ranks 2")));
    REQUIRE(has_stepped(process, folder / "run"));
    const auto listeners = listeners_of_family(process.pid());
    CHECK(children_of(process.pid()).size() == 2);
    for (const Listener& one : listeners) {
        CAPTURE(one.address, one.port);
        CHECK(one.on_loopback());
    }
}

TEST_CASE("connected ranks accept no further connections") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_long_experiment(folder);
    const auto check_closed = [&](Process& process) {
        REQUIRE(has_stepped(process, folder / "run"));
        const auto listeners = listeners_of_family(process.pid());
        for (const Listener& one : listeners) {
            CAPTURE(one.address, one.port);
            CHECK_FALSE(lets_in(one));
        }
        const std::int64_t seen = last_step(folder / "run");
        CHECK(wait_until(process, [&] { return last_step(folder / "run") > seen + 2; }));
    };
    SECTION("started by the program itself") {
        Process process(train_command(config, folder / "run", "--local-ranks 2"));
        check_closed(process);
    }
    SECTION("started by a launcher") {
        const std::string at = concat(" WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=", any_port(), " ");
        Process first("env RANK=0" + at + train_command(config, folder / "run"));
        Process second("env RANK=1" + at + train_command(config, folder / "run"));
        check_closed(first);
        check_closed(second);
    }
}

TEST_CASE("rank 0 of several hosts listens on the interface of MASTER_ADDR only") {
    NEEDS_TRAIN();
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder;
    const auto config = write_long_experiment(folder);
    const auto rank_on = [&](int host) {
        return hosts.on(host, concat("env RANK=", host, " WORLD_SIZE=2 MASTER_ADDR=", TwoHosts::address(0), " MASTER_PORT=29613 ",
                                     train_command(config, folder / "run")));
    };
    Process first(rank_on(0)), second(rank_on(1));
    REQUIRE(has_stepped(first, folder / "run"));
    const auto listeners = listeners_of_family(first.pid());
    CHECK_FALSE(listeners.empty());
    for (const Listener& one : listeners) {
        CAPTURE(one.port);
        CHECK(one.address == TwoHosts::address(0));
    }
}

TEST_CASE("strangers that scan both hosts of a run and write to every open port change none of its numbers") {
    NEEDS_TRAIN();
    const TwoHosts hosts;
    NEEDS_HOSTS(hosts);
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder);
    const auto trained_on_both = [&](const std::string& run) {
        std::vector<std::unique_ptr<Process>> ranks;
        for (const int host : {0, 1})
            ranks.push_back(std::make_unique<Process>(hosts.on(
                host,
                concat("env RANK=", host, " WORLD_SIZE=2 MASTER_ADDR=", TwoHosts::address(0), " MASTER_PORT=29614 sh -c 'exec ",
                       train_command(config, folder / run), " 2>", (folder / concat(run, ".err", host)).string(), "'"))));
        for (int host = 0; host < 2; ++host) {
            const int code = ranks[static_cast<std::size_t>(host)]->wait();
            INFO(read_text(folder / concat(run, ".err", host)));
            REQUIRE(code == 0);
        }
    };
    trained_on_both("alone");
    // What both strangers must find, or they did not reach the hosts.
    Process always_open(hosts.on(0, concat(python(), " -m http.server 30123 --bind ", TwoHosts::address(0))));
    REQUIRE(wait_until(always_open, [&] { return !run_command(hosts.on(0, "ss -Hltn sport = :30123")).out.empty(); }));
    std::vector<std::unique_ptr<Process>> strangers;
    for (const int host : {0, 1})
        strangers.push_back(std::make_unique<Process>(hosts.on(
            host, concat("sh -c '", python(), " tests/distributed/stranger.py ", (folder / "end").string(), " ",
                         TwoHosts::address(0), " ", TwoHosts::address(1), " >", (folder / concat("seen", host)).string(), "'"))));
    trained_on_both("scanned");
    write_text(folder / "end", "");
    for (const auto& stranger : strangers) REQUIRE(stranger->wait() == 0);
    for (const int host : {0, 1}) CHECK(read_text(folder / concat("seen", host)).find("\"30123\"") != std::string::npos);
    CHECK(first_difference(numbers_of(folder / "scanned"), numbers_of(folder / "alone")) == "");
}

TEST_CASE("a rank with a different secret, or without one, ends all ranks at the start with exit 2 and the reason") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"schedule", {{"total_steps", 3}}}});
    write_text(folder / "secret", "0123456789abcdef0123456789abcdef\n");
    const std::string right = "BERTPRETRAIN_SECRET=0123456789abcdef0123456789abcdef",
                      wrong = "BERTPRETRAIN_SECRET=another-secret-of-24-byte";
    const auto refused = [&](const std::string& of_first, const std::string& of_second, const std::vector<std::string>& words) {
        CAPTURE(of_first, of_second);
        const auto outcomes = train_two_with(folder, config, of_first, of_second);
        for (const Outcome& one : outcomes) {
            CHECK(one.code == 2);
            CHECK(missing_words(one.err, words) == "");
        }
        CHECK_FALSE(fs::exists(folder / "run/metrics.jsonl"));
    };
    refused(right, wrong, {"rank 1", "BERTPRETRAIN_SECRET", "another secret"});
    refused(right, "", {"rank 1", "BERTPRETRAIN_SECRET", "no secret"});
    refused("", right, {"rank 0", "BERTPRETRAIN_SECRET", "no secret"});
    const auto outcomes =
        train_two_with(folder, config, right, concat("BERTPRETRAIN_SECRET_FILE=", (folder / "secret").string()));
    CHECK(outcomes[0].code == 0);
    CHECK(outcomes[1].code == 0);
}
