// Of ranks that got different bits, those are named that computed wrongly.
#include "train/audit/cross_check/fault_location.h"

#include "support/catch.h"

using namespace bertpretrain;
using Ranks = std::vector<std::int64_t>;

namespace {

constexpr std::uint64_t right = 7, wrong = 8;

/// Each rank checks the next one. @param own, other digests by rank
std::vector<CrossDigests> reports(const std::vector<std::uint64_t>& own, const std::vector<std::uint64_t>& other) {
    std::vector<CrossDigests> all;
    for (std::size_t rank = 0; rank < own.size(); ++rank)
        all.push_back({own[rank], static_cast<std::int64_t>((rank + 1) % own.size()), other[rank]});
    return all;
}

}  // namespace

TEST_CASE("ranks that got equal bits do not disagree") {
    CHECK(disagreements(reports({1, 2, 3}, {2, 3, 1})).empty());
    CHECK(disagreements(reports({1, 2}, {2, 1})).empty());
}

TEST_CASE("a rank that computes wrongly disagrees with the rank that checks it and the one that it checks") {
    const auto found = disagreements(reports({1, wrong, 3}, {2, wrong, 1}));
    REQUIRE(found.size() == 2);
    CHECK(found[0].owner == 1);
    CHECK(found[0].checker == 0);
    CHECK(found[1].owner == 2);
    CHECK(found[1].checker == 1);
}

TEST_CASE("a fault that occurred once is found by the second computation, on which all ranks agree") {
    CHECK(outvoted_ranks({1, 0, wrong, right}, {right, right, right}) == Ranks{1});
    CHECK(outvoted_ranks({1, 0, right, wrong}, {right, right, right}) == Ranks{0});
    CHECK(outvoted_ranks({1, 0, right, wrong}, {right, right}) == Ranks{0});
}

TEST_CASE("a lasting fault is found by the majority, also where two ranks have faults") {
    CHECK(outvoted_ranks({1, 0, wrong, right}, {right, wrong, right}) == Ranks{1});
    CHECK(outvoted_ranks({1, 0, wrong, right}, {right, wrong, right, right, wrong + 1}) == Ranks{1, 4});
}

TEST_CASE("without a majority no rank is named") {
    CHECK(outvoted_ranks({1, 0, wrong, right}, {right, wrong}).empty());
    CHECK(outvoted_ranks({1, 0, wrong, right}, {1, 2, 3}).empty());
}
