// Operations that are in flight when an exception ends a run.
#include "parallel/gloo_group.h"

#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/run_gloo_ranks.h"

using namespace bertpretrain;

namespace {

/// Makes one `Connected` per rank, each by a thread of its own because they wait for each other.
template <class Connected, class Make>
std::vector<std::unique_ptr<Connected>> connect_two(const Make& make) {
    std::vector<std::unique_ptr<Connected>> ranks(2);
    testing::run_ranks(2, [&](World& threads) { ranks[static_cast<std::size_t>(threads.rank())] = make(threads.rank()); });
    return ranks;
}

/// Destroys an object as an exception does that ends a run.
template <class T>
void destroy_by_exception(std::unique_ptr<T>& object) {
    try {
        const std::unique_ptr<T> destroyed = std::move(object);
        throw std::runtime_error("the run ends");
    } catch (const std::runtime_error&) {}
}

}  // namespace

TEST_CASE("the function of an operation in flight shares what it uses with its group, and works after the group's end") {
    const MeetingPlace place = MeetingPlace::in_this_process();
    auto groups = connect_two<GlooGroup>([&](std::int64_t rank) {
        return std::make_unique<GlooGroup>(place, "test", rank, 2, "127.0.0.1", std::chrono::seconds(60));
    });
    auto peers = std::make_shared<const PeerNames>(std::vector<std::string>{own_sockets(), own_sockets()});
    const std::string name = peers->name(1);
    const std::weak_ptr<const PeerNames> observed = peers;
    groups[0]->set_peers(std::move(peers));
    const at::Tensor tensor = at::empty({1024});
    const std::function<void()> wait = groups[0]->receive("a test", tensor, 1, 7);
    destroy_by_exception(groups[0]);
    REQUIRE_FALSE(observed.expired());  // or the function would read freed memory
    groups[1].reset();                  // the peer leaves
    std::string message;
    try {
        wait();
    } catch (const DistributedError& error) { message = error.what(); }
    CHECK(message.find("rank 0 of 2 lost " + name + " in a test: ") != message.npos);
}

TEST_CASE("a peer that sends nothing within the timeout is named, unless it may wait for other ranks itself") {
    const bool waits_for_others = GENERATE(false, true);
    const MeetingPlace place = MeetingPlace::in_this_process();
    auto groups = connect_two<GlooGroup>([&](std::int64_t rank) {
        return std::make_unique<GlooGroup>(place, "test", rank, 2, "127.0.0.1", std::chrono::seconds(60));
    });
    const auto peers = std::make_shared<const PeerNames>(std::vector<std::string>{own_sockets(), own_sockets()});
    groups[0]->set_peers(peers);
    groups[0]->set_timeout(std::chrono::milliseconds(50));
    std::string message;
    try {
        groups[0]->receive("a test", at::empty({4}), 1, 7, waits_for_others)();
    } catch (const DistributedError& error) { message = error.what(); }
    const std::string lost = waits_for_others ? "a peer or the network" : peers->name(1);
    CHECK(message.find("rank 0 of 2 lost " + lost + " in a test: ") != message.npos);
}

TEST_CASE("a thread that still waits for a peer after an exception has destroyed the world ends when the peer leaves") {
    const MeetingPlace place = MeetingPlace::in_this_process();
    auto worlds = connect_two<GlooWorld>(
        [&](std::int64_t rank) { return std::make_unique<GlooWorld>(place, rank, 2, "127.0.0.1", std::chrono::seconds(60)); });
    std::vector<float> memory(2048);
    std::promise<void> released;
    {
        const at::Tensor output = at::from_blob(memory.data(), {2048}, [&](void*) { released.set_value(); });
        const auto pending = worlds[0]->all_gather(at::ones({1024}), output);  // rank 1 never takes part
        destroy_by_exception(worlds[0]);
    }
    worlds[1].reset();
    released.get_future().wait();  // the thread has let go of the operation
}
