#include "train/stop/exit_record.h"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::TemporaryFolder;

namespace {

Launch launch_of(std::int64_t rank, std::int64_t attempt) {
    Launch launch;
    launch.rank = rank;
    launch.attempt = attempt;
    launch.world_size = 4;
    return launch;
}

/// The code with which a start is refused; 0: it is not.
int refusal(const std::filesystem::path& file, std::int64_t attempt) {
    try {
        refuse_hopeless_restart(file, launch_of(0, attempt));
    } catch (const Error& error) { return static_cast<int>(error.code()); }
    return 0;
}

}  // namespace

TEST_CASE("the ranks that computed wrongly are named with their hosts") {
    const TemporaryFolder folder;
    const auto file = folder / "exit.json";
    record_exit(file, launch_of(0, 0), 5, "rank 3 on node7 computed wrongly", {{3, "node7"}});
    const auto record = nlohmann::json::parse(testing::read_text(file));
    CHECK(record.at("suspects") == nlohmann::json::parse(R"([{"rank": 3, "host": "node7"}])"));
    CHECK(record.at("code") == 5);
}

TEST_CASE("a failure before the run's folder exists is recorded under torchrun, which hides exit codes, and only there") {
    const TemporaryFolder folder;
    record_exit(folder / "run/exit.json", launch_of(0, 0), ConfigError("no such setting"));
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
    Launch launch = launch_of(0, 0);
    launch.launcher = "torchrun";
    record_exit(folder / "run/exit.json", launch, ConfigError("no such setting"));
    CHECK(read_exit_record(folder / "run/exit.json")->code == 2);
}

TEST_CASE("the cause of the first rank that fails in an attempt is kept, not the losses it leads to") {
    const TemporaryFolder folder;
    const auto file = folder / "exit.json";
    record_exit(file, launch_of(2, 0), DataError("a shard is damaged"));
    record_exit(file, launch_of(0, 0), DistributedError("lost a peer"));
    const auto record = read_exit_record(file);
    REQUIRE(record);
    CHECK((record->code == 3 && record->rank == 2 && record->attempt == 0));
    CHECK(record->cause.find("a shard is damaged") != std::string::npos);
    record_exit(file, launch_of(1, 1), DistributedError("lost a peer"));
    CHECK(read_exit_record(file)->attempt == 1);
}

TEST_CASE("restarts after what they cannot fix are refused with the same code; others and fresh starts are not") {
    const TemporaryFolder folder;
    const auto file = folder / "exit.json";
    CHECK(refusal(file, 1) == 0);
    for (const auto& [error, expected] : std::vector<std::pair<Error, int>>{{ConfigError("c"), 2},
                                                                            {DataError("d"), 3},
                                                                            {CheckpointError("k"), 4},
                                                                            {DistributedError("n"), 0},
                                                                            {NumbersError("i"), 6}}) {
        std::filesystem::remove(file);
        record_exit(file, launch_of(0, 0), error);
        CHECK(refusal(file, 1) == expected);
        CHECK(refusal(file, 0) == 0);  // a person has started it again
        record_exit(file, launch_of(1, 0), DistributedError("rank 0 came late"));
        CHECK(refusal(file, 1) == 0);  // the earlier launch's cause is not this one's
    }
    testing::write_text(file, "{ torn");
    CHECK(refusal(file, 1) == 0);
}

TEST_CASE("torchrun's error file gets the message in the form that its agent reads") {
    const TemporaryFolder folder;
    const std::string file = folder / "error.json";
    ::setenv("TORCHELASTIC_ERROR_FILE", file.c_str(), 1);
    record_exit(folder / "exit.json", launch_of(1, 0), DataError("a shard is damaged"));
    ::unsetenv("TORCHELASTIC_ERROR_FILE");
    const auto said = nlohmann::json::parse(testing::read_text(file)).at("message");
    CHECK(said.at("message") == "data error: a shard is damaged");
    CHECK(std::stoll(said.at("extraInfo").at("timestamp").get<std::string>()) > 1'600'000'000);
}
