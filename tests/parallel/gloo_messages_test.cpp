#include "parallel/gloo_messages.h"

#include <future>
#include <thread>

#include "core/error.h"
#include "core/host_name.h"
#include "support/catch.h"
#include "support/run_ranks.h"

using namespace bertpretrain;

namespace {

/// Calls body(messages) on a thread per rank; all of them are connected.
void run_connected(std::int64_t ranks, const std::function<void(GlooMessages&)>& body) {
    const MeetingPlace place = MeetingPlace::in_this_process();
    testing::run_ranks(ranks, [&](World& threads) {
        GlooMessages messages(place, "test", threads.rank(), ranks, "127.0.0.1", std::chrono::seconds(60));
        body(messages);
        messages.barrier();
    });
}

/// A message that depends on the rank and on every position in it.
std::string message_of(std::int64_t rank, std::size_t length) {
    std::string message(length, '\0');
    for (std::size_t i = 0; i < length; ++i)
        message[i] = static_cast<char>(static_cast<std::size_t>(rank) * 31 + i * 7 + i / 256);
    return message;
}

}  // namespace

TEST_CASE("messages of any length are gathered in rank order by any number of ranks") {
    const std::int64_t ranks = GENERATE(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33);
    run_connected(ranks, [&](GlooMessages& messages) {
        for (const std::size_t length : {0UL, 1UL, 7UL, 8UL, 1000UL, 70'000UL}) {
            std::vector<std::string> expected;
            for (std::int64_t rank = 0; rank < ranks; ++rank) expected.push_back(message_of(rank, length));
            if (messages.all_gather(std::string_view(message_of(messages.rank(), length))) != expected)
                throw std::runtime_error(concat("wrong messages of ", length, " bytes"));
            const auto at_first = messages.gather_at_first(message_of(messages.rank(), length));
            if (messages.rank() == 0 ? at_first != expected : !at_first.empty())
                throw std::runtime_error(concat("wrong messages of ", length, " bytes at rank 0"));
        }
        std::string text = message_of(messages.rank(), 300);
        messages.broadcast_from_first(std::as_writable_bytes(std::span(text)));
        if (text != message_of(0, 300)) throw std::runtime_error("wrong broadcast");
    });
}

TEST_CASE("ranks that are not in step gather the messages of the same operation") {
    run_connected(5, [](GlooMessages& messages) {
        for (int i = 0; i < 200; ++i) {
            const double own = 1000 * i + static_cast<double>(messages.rank());
            std::vector<double> expected;
            for (int rank = 0; rank < 5; ++rank) expected.push_back(1000 * i + rank);
            if (messages.ControlGroup::all_gather(std::span(&own, 1)) != expected) throw std::runtime_error("mixed operations");
            if ((i + messages.rank()) % 5 == 0) std::this_thread::yield();
        }
    });
}

TEST_CASE("a rank that does not take part is named by the rank that waits for it") {
    const MeetingPlace place = MeetingPlace::in_this_process();
    std::promise<void> noticed;
    std::string error;
    testing::run_ranks(2, [&](World& threads) {
        GlooMessages messages(place, "test", threads.rank(), 2, "127.0.0.1", std::chrono::seconds(60));
        if (threads.rank() == 1) return noticed.get_future().wait();
        messages.set_timeout(std::chrono::milliseconds(50));
        try {
            messages.barrier();
        } catch (const DistributedError& lost) { error = lost.what(); }
        noticed.set_value();
    });
    CHECK(error.find(concat("rank 0 of 2 lost rank 1 on ", host_name(), " in all-gather: ")) != error.npos);
}
