#include "parallel/gather_rounds.h"

#include <cstddef>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Returns the ranks whose messages each rank has after all rounds, in the order in which it keeps them.
std::vector<std::vector<std::int64_t>> gathered(std::int64_t size) {
    std::vector<std::vector<std::int64_t>> kept;
    for (std::int64_t rank = 0; rank < size; ++rank) kept.push_back({rank});
    const std::size_t rounds = gather_rounds(0, size).size();
    for (std::size_t round = 0; round < rounds; ++round) {
        auto next = kept;
        for (std::int64_t rank = 0; rank < size; ++rank) {
            const GatherRound own = gather_rounds(rank, size)[round], sender = gather_rounds(own.from, size)[round];
            REQUIRE((sender.to == rank && sender.messages == own.messages));
            const auto& sent = kept[static_cast<std::size_t>(own.from)];
            REQUIRE(static_cast<std::size_t>(own.messages) <= sent.size());
            next[static_cast<std::size_t>(rank)].insert(next[static_cast<std::size_t>(rank)].end(), sent.begin(),
                                                        sent.begin() + own.messages);
        }
        kept = next;
    }
    return kept;
}

}  // namespace

TEST_CASE("after ceil(log2(size)) rounds every rank has each rank's message once, in order from its own") {
    std::size_t fewest = 0;  // the smallest number with 2^fewest >= size
    for (std::int64_t size = 1; size <= 70; ++size) {
        CAPTURE(size);
        while ((std::int64_t{1} << fewest) < size) ++fewest;
        CHECK(gather_rounds(size - 1, size).size() == fewest);
        std::vector<std::vector<std::int64_t>> expected;
        for (std::int64_t rank = 0; rank < size; ++rank) {
            expected.emplace_back();
            for (std::int64_t i = 0; i < size; ++i) expected.back().push_back((rank + i) % size);
        }
        CHECK(gathered(size) == expected);
    }
}
