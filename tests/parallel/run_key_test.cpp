// Authentication of ranks and values in a store that outsiders can reach.
#include "parallel/run_key.h"

#include <future>
#include <vector>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "core/error.h"
#include "parallel/signed_store.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

using Bytes = std::vector<std::uint8_t>;

c10::intrusive_ptr<c10d::Store> new_store() {
    auto store = c10::make_intrusive<c10d::HashStore>();
    store->setTimeout(std::chrono::seconds(20));
    return store;
}

/// Returns each rank's result: its key, or the beginning of its error with the kind.
std::vector<std::string> meet(const std::vector<std::string>& secrets,
                              const c10::intrusive_ptr<c10d::Store>& store = new_store()) {
    std::vector<std::future<std::string>> ranks;
    for (std::size_t rank = 0; rank < secrets.size(); ++rank)
        ranks.push_back(std::async(std::launch::async, [&, rank]() -> std::string {
            try {
                return agree_on_run_key(*store, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(secrets.size()),
                                        secrets[rank]);
            } catch (const Error& error) { return error.what(); }
        }));
    std::vector<std::string> outcomes;
    for (auto& rank : ranks) outcomes.push_back(rank.get());
    return outcomes;
}

const std::string right = "0123456789abcdef", wrong = "0123456789abcdeX";

}  // namespace

TEST_CASE("ranks with the same secret, or all with none, agree on a key that differs each time") {
    const std::string secret = GENERATE(std::string(), right);
    const auto keys = meet({secret, secret, secret});
    CHECK(keys[0].size() == 32);
    CHECK(keys == std::vector<std::string>(3, keys[0]));
    CHECK(meet({secret, secret, secret}) != keys);
}

TEST_CASE("if one rank has a different secret, or none, all ranks report it by number") {
    const auto check_all = [](const std::vector<std::string>& secrets, const std::string& reason) {
        for (const std::string& outcome : meet(secrets)) {
            CHECK_THAT(outcome, Catch::StartsWith("config error"));
            CHECK_THAT(outcome, Catch::Contains(reason));
        }
    };
    check_all({right, right, wrong}, "rank 2 has another secret than rank 0");
    check_all({right, "", right}, "rank 1 has no secret, but rank 0 has one");
    check_all({"", right}, "rank 0 has no secret, but rank 1 has one");
    const auto outcomes = meet({wrong, right, right});  // each that sees rank 0's proof names itself
    CHECK_THAT(outcomes[0], Catch::Contains("rank 1 has another secret than rank 0"));
    CHECK_THAT(outcomes[2], Catch::Contains("rank 2 has another secret than rank 0"));
}

TEST_CASE("a value that an outsider writes in place of a rank is refused, at any length") {
    const auto store = new_store();
    SECTION("a hello") { store->set("hello/1", std::string(1 << 20, 'x')); }
    SECTION("a roll that was right in an earlier run") {
        const auto earlier = new_store();
        meet({right, right}, earlier);
        store->set("hello/0", earlier->get_to_str("hello/0"));
        store->set("roll", earlier->get_to_str("roll"));
        CHECK_THROWS_WITH(agree_on_run_key(*store, 1, 2, right), Catch::Contains("met another start of this run"));
        return;
    }
    CHECK_THROWS_WITH(agree_on_run_key(*store, 0, 3, right), Catch::StartsWith("distributed error"));
}

TEST_CASE("a rank that does not join is named by rank 0 when its timeout ends") {
    const auto store = new_store();
    store->setTimeout(std::chrono::milliseconds(50));
    CHECK_THROWS_WITH(agree_on_run_key(*store, 0, 2, ""), Catch::Contains("rank 0 of 2: rank 1 did not join in time"));
}

TEST_CASE("a signed store takes only values that a rank with the run's key has written") {
    const auto plain = new_store();
    SignedStore ours(plain, "the run's key"), others(plain, "another key");
    ours.set("address", Bytes{1, 2, 3});
    CHECK(ours.get("address") == Bytes{1, 2, 3});
    CHECK(ours.clone()->get("address") == Bytes{1, 2, 3});
    CHECK_THROWS_AS(others.get("address"), DistributedError);
    plain->set("moved", plain->get("address"));
    CHECK_THROWS_AS(ours.get("moved"), DistributedError);
    Bytes changed = plain->get("address");
    changed.back() = 4;
    plain->set("address", changed);
    CHECK_THROWS_AS(ours.get("address"), DistributedError);
    plain->set("short", Bytes{1});
    CHECK_THROWS_AS(ours.get("short"), DistributedError);
    ours.set("empty", Bytes{});
    CHECK(ours.get("empty").empty());
    CHECK(ours.compareSet("first", Bytes{}, Bytes{5}) == Bytes{5});
    CHECK(ours.compareSet("first", Bytes{6}, Bytes{7}) == Bytes{5});
    CHECK(ours.compareSet("first", Bytes{5}, Bytes{7}) == Bytes{7});
}
