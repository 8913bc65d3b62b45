// Operations that are in flight when an exception ends a run.
#include "parallel/gloo_group.h"

#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

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

/// A rank that publishes its address, and then stops.
class StopsBeforeItReads final : public c10d::Store {
public:
    explicit StopsBeforeItReads(std::shared_ptr<c10d::Store> store) : store_(std::move(store)) {}

    void set(const std::string& key, const std::vector<std::uint8_t>& value) override { store_->set(key, value); }
    std::vector<std::uint8_t> get(const std::string&) override { throw std::runtime_error("it has stopped"); }
    void wait(const std::vector<std::string>&) override { throw std::runtime_error("it has stopped"); }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }
    c10::intrusive_ptr<c10d::Store> clone() override { return c10::make_intrusive<StopsBeforeItReads>(store_); }
    std::vector<std::uint8_t> compareSet(const std::string&, const std::vector<std::uint8_t>&,
                                         const std::vector<std::uint8_t>&) override {
        return {};
    }
    std::int64_t add(const std::string& key, std::int64_t value) override { return store_->add(key, value); }
    bool deleteKey(const std::string& key) override { return store_->deleteKey(key); }
    bool check(const std::vector<std::string>& keys) override { return store_->check(keys); }
    std::int64_t getNumKeys() override { return store_->getNumKeys(); }

private:
    std::shared_ptr<c10d::Store> store_;
};

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

TEST_CASE("a rank that has published its address and is gone keeps the others no longer than the timeout and as long again",
          "[system]") {
    constexpr auto timeout = std::chrono::seconds(1);  // Gloo itself would wait for five times as long
    std::string message;
    // Their ports decide which of two ranks connects to the other. Only the rank that is connected to waits, here about every
    // second time.
    for (int attempt = 0; attempt < 60 && message.empty(); ++attempt) {
        const MeetingPlace place = MeetingPlace::in_this_process();
        const auto options = c10d::ProcessGroupGloo::Options::create(timeout);  // its socket goes on accepting
        options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
        const auto store = c10::make_intrusive<c10d::PrefixStore>("test", c10::make_intrusive<StopsBeforeItReads>(place.store()));
        CHECK_THROWS(c10d::ProcessGroupGloo(store, 0, 2, options));
        try {
            const GlooGroup connected(place, "test", 1, 2, "127.0.0.1", timeout);
        } catch (const DistributedError& error) { message = error.what(); }
    }
    CHECK_THAT(message, Catch::Contains("rank 1 of 2 has not connected to all other ranks within 2 s"));
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
