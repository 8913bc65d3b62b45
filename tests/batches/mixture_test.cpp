#include "batches/mixture.h"

#include <cmath>
#include <numeric>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

using Shares = std::vector<std::int64_t>;

Shares random_shares(std::size_t sources, std::uint64_t seed) {
    RandomSequence random(seed, Purpose::sample_order, sources);
    Shares shares;
    for (std::size_t i = 0; i < sources; ++i) shares.push_back(random.below(random.below(2) == 0 ? 1000 : 10));
    shares[sources / 2] += 1;  // not all 0
    return shares;
}

std::vector<Shares> examples() {
    std::vector<Shares> all{{1},         {1, 1}, {7, 3}, {1, 9999}, {700'000'000, 200'000'000, 100'000'000}, {1, 2, 4, 8, 16},
                            {0, 5, 0, 3}};
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (const std::size_t sources : std::vector<std::size_t>{2, 3, 5, 17, 64}) all.push_back(random_shares(sources, seed));
    return all;
}

double exact_share(const Shares& shares, std::size_t source) {
    return static_cast<double>(shares[source]) /
           static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}));
}

}  // namespace

TEST_CASE("every window of 10,000 samples has each source's exact share within 0.1 %, counted by a plain loop") {
    constexpr std::int64_t samples = 18'000, window = 10'000;
    for (const Shares& shares : examples()) {
        const Mixture mixture({{0, shares}});
        const std::size_t sources = shares.size();
        bool is_next = true;
        std::vector<std::vector<std::int64_t>> before(samples + 1, Shares(sources, 0));
        for (std::int64_t n = 0; n < samples; ++n) {
            const Mixture::Place place = mixture.locate(n);
            auto& counts = before[static_cast<std::size_t>(n) + 1] = before[static_cast<std::size_t>(n)];
            is_next = is_next && place.number == counts[place.source];
            ++counts[place.source];
        }
        double worst = 0;
        for (std::int64_t begin = 0; begin + window <= samples; ++begin)
            for (std::size_t source = 0; source < sources; ++source) {
                const auto count =
                    before[static_cast<std::size_t>(begin + window)][source] - before[static_cast<std::size_t>(begin)][source];
                worst = std::max(worst, std::fabs(static_cast<double>(count) - exact_share(shares, source) * window));
            }
        CAPTURE(sources, worst);
        CHECK(is_next);
        CHECK(worst <= 0.001 * window);
        CHECK(worst <= std::ceil(std::log2(static_cast<double>(sources))) + 1e-6);
        for (const std::int64_t n : {0, 1, 2, 17, 9999, 18'000}) CHECK(mixture.counts(n) == before[static_cast<std::size_t>(n)]);
    }
}

TEST_CASE("a sample far into a run is found without the samples before it") {
    for (const Shares& shares : examples()) {
        const Mixture mixture({{0, shares}});
        for (const std::int64_t n : {std::int64_t{999'999'999'999}, std::int64_t{1} << 50}) {
            Shares counts = mixture.counts(n);
            const Mixture::Place place = mixture.locate(n);
            CHECK(place.number == counts[place.source]);
            ++counts[place.source];
            CHECK(mixture.counts(n + 1) == counts);
            CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == n + 1);
            CHECK(std::fabs(static_cast<double>(counts[0]) - exact_share(shares, 0) * static_cast<double>(n)) < 4);
        }
    }
}

TEST_CASE("changed shares continue each source where it was") {
    const Mixture before({{0, {3, 1, 0}}}), changed({{0, {3, 1, 0}}, {1001, {1, 1, 2}}, {1500, {0, 0, 1}}});
    Shares counts(3, 0);
    for (std::int64_t n = 0; n < 3000; ++n) {
        const Mixture::Place place = changed.locate(n);
        REQUIRE(place.number == counts[place.source]++);
        if (n < 1001) REQUIRE(place.source == before.locate(n).source);
        if (n >= 1500) REQUIRE(place.source == 2);
        REQUIRE(changed.counts(n + 1) == counts);
    }
    CHECK(counts[2] == 249 + 1500);  // half of 499 samples, and all of 1500
}

TEST_CASE("weights become billionths of their sum") {
    const auto shares = [](std::vector<double> weights) { return mixture_shares(weights); };
    CHECK(shares({0.7, 0.2, 0.1}) == Shares{700'000'000, 200'000'000, 100'000'000});
    CHECK(shares({1, 2}) == shares({10, 20}));
    CHECK(shares({5}) == Shares{1'000'000'000});
    CHECK(shares({0, 1}) == Shares{0, 1'000'000'000});
    CHECK(shares({1e-15, 1}) == Shares{1, 1'000'000'000});
}

TEST_CASE("parts that are no mixture are refused") {
    const auto refused = [](std::vector<MixturePart> parts) { CHECK_THROWS_AS(Mixture(std::move(parts)), std::logic_error); };
    refused({});
    refused({{0, {}}});
    refused({{5, {1}}});
    refused({{0, {0, 0}}});
    refused({{0, {1, -1}}});
    refused({{0, {1, 1}}, {10, {1}}});
    refused({{0, {1, 1}}, {0, {1, 2}}});
}
