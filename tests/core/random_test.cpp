#include "core/random.h"

#include <algorithm>
#include <numeric>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("Philox gives the published test vectors") {
    // Source: kat_vectors of Random123 1.09, philox4x32 with 10 rounds.
    CHECK(philox({0, 0}, {0, 0, 0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}) ==
          PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
          PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("below() returns every number in its range about equally often") {
    RandomSequence random(7, Purpose::masking, 3);
    std::vector<int> hits(10);
    for (int i = 0; i < 100'000; ++i) ++hits[random.below(10)];
    for (const int count : hits) CHECK(std::abs(count - 10'000) < 500);
}

TEST_CASE("streams of different purposes or positions differ, and the same position repeats") {
    const auto first = [](Purpose purpose, std::uint64_t high) { return RandomSequence(1, purpose, high).next(); };
    CHECK(first(Purpose::masking, 5) == first(Purpose::masking, 5));
    CHECK(first(Purpose::masking, 5) != first(Purpose::masking, 6));
    CHECK(first(Purpose::masking, 5) != first(Purpose::sample_order, 5));
}

TEST_CASE("a shuffle is a permutation") {
    std::vector<int> items(1000);
    std::iota(items.begin(), items.end(), 0);
    RandomSequence(1, Purpose::sample_order, 0).shuffle(items);
    CHECK_FALSE(std::is_sorted(items.begin(), items.end()));
    std::sort(items.begin(), items.end());
    for (int i = 0; i < 1000; ++i) CHECK(items[static_cast<std::size_t>(i)] == i);
}
