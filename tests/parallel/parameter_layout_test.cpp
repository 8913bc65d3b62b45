#include "model/parameter_layout.h"

#include <set>

#include "core/concat.h"
#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Tensors of random sizes, from one element to several blocks.
std::vector<ParameterSpec> random_specs(std::uint64_t seed) {
    RandomSequence random(seed, Purpose::initial_weights, 0);
    std::vector<ParameterSpec> specs;
    for (std::uint32_t i = 0, count = 1 + random.below(20); i < count; ++i)
        specs.push_back({concat("p", i), {1 + random.below(200), 1 + random.below(i % 2 == 0 ? 3 : 100)}, true});
    return specs;
}

}  // namespace

TEST_CASE("every element of every parameter is in exactly one run of one shard, and in its place") {
    const std::uint64_t seed = GENERATE(1U, 2U, 3U, 4U);
    const std::int64_t shards = GENERATE(1, 2, 3, 5, 64);
    const std::int64_t bucket_elements = GENERATE(1, 5000, 1 << 30);
    const ParameterLayout layout(random_specs(seed), bucket_elements, shards);
    CAPTURE(seed, shards, bucket_elements);
    std::vector<std::vector<int>> seen;
    for (const PlacedParameter& p : layout.parameters()) seen.emplace_back(static_cast<std::size_t>(p.spec.elements()));
    bool in_place = true;
    for (std::int64_t shard = 0; shard < shards; ++shard) {
        std::int64_t previous_end = 0;
        for (const OwnedRun& run : layout.owned_by(shard)) {
            const PlacedParameter& parameter = layout.parameters()[run.parameter];
            const Bucket& bucket = layout.buckets()[parameter.bucket];
            const Bucket slice = layout.slice_of(parameter.bucket, shard);
            in_place = in_place && run.in_flat == parameter.begin + run.in_parameter && run.elements > 0 &&
                       run.in_slice == bucket.begin / shards + run.in_flat - slice.begin && slice.begin <= run.in_flat &&
                       run.in_flat + run.elements <= slice.end && previous_end <= run.in_slice;
            previous_end = run.in_slice + run.elements;
            for (std::int64_t i = 0; i < run.elements; ++i) ++seen[run.parameter][static_cast<std::size_t>(run.in_parameter + i)];
        }
        in_place = in_place && previous_end <= layout.slice_elements();
    }
    CHECK(in_place);
    for (const auto& counts : seen) CHECK(std::set<int>(counts.begin(), counts.end()) == std::set<int>{1});
}

TEST_CASE("parameters begin on cache lines, buckets on blocks, and both follow each other without overlap") {
    const std::int64_t shards = GENERATE(1, 3, 8);
    const ParameterLayout layout(random_specs(7), 5000, shards);
    std::int64_t end = 0;
    for (const Bucket& bucket : layout.buckets()) {
        CHECK(bucket.begin == end);
        CHECK(bucket.elements() % (shards * ParameterLayout::block_elements) == 0);
        end = bucket.end;
    }
    CHECK(layout.flat_elements() == end);
    end = 0;
    for (const PlacedParameter& parameter : layout.parameters()) {
        const Bucket& bucket = layout.buckets()[parameter.bucket];
        CHECK(parameter.begin % ParameterLayout::alignment_elements == 0);
        CHECK(parameter.begin >= end);
        end = parameter.begin + parameter.spec.elements();
        CHECK((bucket.begin <= parameter.begin && end <= bucket.end));
    }
}

TEST_CASE("a bucket closes at the requested size; the number of shards moves no parameter within it") {
    const ParameterLayout one(random_specs(5), 5000, 1), many(random_specs(5), 5000, 7);
    REQUIRE(one.buckets().size() == many.buckets().size());
    for (std::size_t p = 0; p < one.parameters().size(); ++p) {
        const PlacedParameter &a = one.parameters()[p], &b = many.parameters()[p];
        CHECK(a.bucket == b.bucket);
        CHECK(a.begin - one.buckets()[a.bucket].begin == b.begin - many.buckets()[b.bucket].begin);
    }
    for (std::size_t b = 0; b + 1 < one.buckets().size(); ++b) {
        std::int64_t before_last = 0;
        for (const PlacedParameter& p : one.parameters())
            if (p.bucket == b) before_last = p.begin - one.buckets()[b].begin;
        CHECK(one.buckets()[b].elements() >= 5000);
        CHECK(before_last < 5000);
    }
}

TEST_CASE("a layout knows its parameters by name") {
    const ParameterLayout layout({{"a", {2, 3}, true}, {"b", {4}, false}}, 1, 1);
    CHECK(layout.index_of("b") == 1);
    CHECK(layout.parameter_elements() == 10);
    CHECK_THROWS_AS(layout.index_of("c"), std::logic_error);
}
