#include "parallel/gradient_buckets.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "support/catch.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using testing::run_ranks;

namespace {

std::vector<ParameterSpec> specs() { return {{"a", {9000}, true}, {"b", {5}, true}, {"c", {13000}, true}, {"d", {3, 7}, true}}; }

void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

at::Tensor ramp(const ParameterLayout& layout) { return at::arange(layout.flat_elements()).to(at::kFloat); }

/// The elements of a flat buffer that `rank` owns, in slice order.
at::Tensor slice_of(const ParameterLayout& layout, const at::Tensor& flat, std::int64_t rank) {
    at::Tensor slice = at::zeros({layout.slice_elements()}, flat.options());
    std::int64_t begin = 0;
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
        const Bucket part = layout.slice_of(b, rank);
        slice.narrow(0, begin, part.elements()).copy_(flat.narrow(0, part.begin, part.elements()));
        begin += part.elements();
    }
    return slice;
}

}  // namespace

TEST_CASE("gradients are summed over ranks into slices, weights come back into the flat buffer") {
    const std::int64_t ranks = GENERATE(2, 3, 5);
    const ParameterLayout layout(specs(), 8000, ranks);
    REQUIRE(layout.buckets().size() == 3);
    run_ranks(ranks, [&](World& world) {
        const at::Tensor gradients = at::zeros({layout.flat_elements()});
        const at::Tensor working = at::zeros({layout.flat_elements()}, at::kBFloat16);
        GradientBuckets buckets(layout, world, gradients, working);
        for (const int scale : {1, 2}) {  // two steps
            gradients.copy_(ramp(layout).mul(world.rank() + scale));
            for (const std::size_t bucket : {1U, 0U, 2U}) buckets.ready(bucket);
            std::int64_t factor = 0;
            for (std::int64_t r = 0; r < ranks; ++r) factor += r + scale;
            require(at::equal(buckets.finish(), slice_of(layout, ramp(layout).mul(factor), world.rank())),
                    "wrong gradient slice");
            buckets.gather_gradients();
            require(at::equal(gradients, ramp(layout).mul(factor)), "wrong flat gradients");
            const at::Tensor weights = ramp(layout).mul(-scale).to(at::kBFloat16);
            buckets.working_slice().copy_(slice_of(layout, weights, world.rank()));
            buckets.gather();
            require(at::equal(working, weights), "wrong flat weights");
        }
    });
}

TEST_CASE("weights may be waited for bucket by bucket, as the forward comes to them") {
    const ParameterLayout layout(specs(), 8000, 2);
    run_ranks(2, [&](World& world) {
        const at::Tensor working = at::zeros({layout.flat_elements()});
        GradientBuckets buckets(layout, world, at::zeros({layout.flat_elements()}), working);
        buckets.working_slice().copy_(slice_of(layout, ramp(layout), world.rank()));
        buckets.start_gather();
        for (const std::size_t bucket : {2U, 1U, 0U}) {
            buckets.wait_gathered(bucket);
            const Bucket& range = layout.buckets()[bucket];
            require(at::equal(working.narrow(0, range.begin, range.elements()),
                              ramp(layout).narrow(0, range.begin, range.elements())),
                    "a bucket is not there after its wait");
        }
    });
}

TEST_CASE("in a world of one the slices are the flat buffers") {
    const ParameterLayout layout(specs(), 8000, 1);
    SingleProcess world;
    const at::Tensor gradients = ramp(layout), working = at::zeros({layout.flat_elements()}, at::kBFloat16);
    GradientBuckets buckets(layout, world, gradients, working);
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) buckets.ready(b);
    CHECK(buckets.finish().is_same(gradients));
    CHECK(buckets.working_slice().is_same(working));
    buckets.gather();
    buckets.gather_gradients();
    CHECK(at::equal(gradients, ramp(layout)));
}

TEST_CASE("a bucket that is ready twice or never is our mistake") {
    const ParameterLayout layout(specs(), 8000, 1);
    SingleProcess world;
    GradientBuckets buckets(layout, world, ramp(layout), ramp(layout));
    buckets.ready(0);
    CHECK_THROWS_AS(buckets.ready(0), std::logic_error);
    CHECK_THROWS_AS(buckets.finish(), std::logic_error);
    CHECK_THROWS_AS(buckets.wait_gathered(0), std::logic_error);
}
