#include "deduplication/min_hash.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "made_up_text.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("bands find at least 95 % of the pairs exactly at any threshold") {
    const Bands bands = bands_for(0.8);
    CHECK(bands.count == 22);
    CHECK(bands.rows == 8);
    CHECK(candidate_share(bands, 0.8) == Approx(1 - std::pow(1 - std::pow(0.8, 8), 22)));
    for (double threshold = 0.3; threshold <= 1; threshold += 0.05)
        CHECK(candidate_share(bands_for(threshold), threshold) >= 0.95);
}

TEST_CASE("the measured share of pairs that share a band follows the formula") {
    Numbers numbers(3);
    for (const std::uint32_t common : {800U, 600U, 400U}) {
        const Bands bands{10, 4};
        const MinHash hash(bands);
        const double jaccard = common / 1000.0;
        int candidates = 0;
        constexpr int pairs = 2000;
        for (int i = 0; i < pairs; ++i) {
            std::vector<std::uint32_t> a, b;
            for (std::uint32_t k = 0; k < 100; ++k) {
                const std::uint32_t shingle = numbers.below(~0U);
                if (k < common / 10 || k % 2 == 0) a.push_back(shingle);
                if (k < common / 10 || k % 2 == 1) b.push_back(shingle);
            }
            std::vector<std::uint64_t> keys_a, keys_b;
            hash.append_keys(a, keys_a);
            hash.append_keys(b, keys_b);
            bool shares = false;
            for (std::size_t k = 0; k < keys_a.size(); ++k) shares = shares || keys_a[k] == keys_b[k];
            candidates += shares;
        }
        const double expected = candidate_share(bands, jaccard);
        const double deviation = std::sqrt(expected * (1 - expected) / pairs);
        CHECK(std::abs(candidates / static_cast<double>(pairs) - expected) < 4 * deviation + 1e-9);
    }
}

TEST_CASE("a document's keys do not depend on the order of its shingles or their repetitions, and differ per band") {
    const MinHash hash(bands_for(0.8));
    std::vector<std::uint32_t> shingles{5, 9, 1, 70, 12};
    std::vector<std::uint64_t> keys, again;
    hash.append_keys(shingles, keys);
    std::reverse(shingles.begin(), shingles.end());
    shingles.push_back(9);
    hash.append_keys(shingles, again);
    CHECK(keys == again);
    CHECK(std::set<std::uint64_t>(keys.begin(), keys.end()).size() == 22);
}
