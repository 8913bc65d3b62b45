#include "parallel/gradient_buckets.h"

#include <ATen/ATen.h>

#include "support/catch.h"
#include "support/run_gloo_ranks.h"

using namespace bertpretrain;
using testing::require_on_rank;
using testing::run_gloo_ranks;
using testing::run_ranks;

namespace {

std::vector<ParameterSpec> specs() {
    return {{"a", {9000}, true}, {"b", {5}, true}, {"c", {13000}, true}, {"d", {3, 7}, true}, {"e", {4200}, false}};
}

FlatParameters parameters_for(std::int64_t ranks, at::ScalarType compute_dtype = at::kBFloat16) {
    return FlatParameters(ParameterLayout(specs(), 8000, ranks), compute_dtype, at::kCPU);
}

at::Tensor ramp(const ParameterLayout& layout) { return at::arange(layout.flat_elements()).to(at::kFloat); }

/// The elements of a flat buffer that `rank` owns, in slice order.
at::Tensor slice_of(const ParameterLayout& layout, const at::Tensor& flat, std::int64_t rank) {
    std::vector<at::Tensor> parts;
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
        const Bucket part = layout.slice_of(b, rank);
        parts.push_back(flat.narrow(0, part.begin, part.elements()));
    }
    return at::cat(parts);
}

}  // namespace

TEST_CASE("gradients are summed over ranks, into slices or everywhere, and weights are gathered") {
    const auto run = GENERATE(&testing::run_ranks, &testing::run_gloo_ranks);
    const std::int64_t ranks = GENERATE(1, 2, 3, 5), zero_stage = GENERATE(0, 1);
    CAPTURE(ranks, zero_stage);
    run(ranks, [&](World& world) {
        const FlatParameters parameters = parameters_for(ranks);
        const ParameterLayout& layout = parameters.layout();
        require_on_rank(layout.buckets().size() == 4, "the buckets are not as this test thinks");
        GradientBuckets buckets(parameters, world, {.zero_stage = zero_stage});
        for (const int scale : {1, 2}) {  // two steps
            parameters.gradients().copy_(ramp(layout).mul(world.rank() + scale));
            for (std::size_t b = 0; b < 4; ++b) buckets.ready(b);
            std::int64_t factor = 0;
            for (std::int64_t r = 0; r < ranks; ++r) factor += r + scale;
            const at::Tensor sums = ramp(layout).mul(factor);
            require_on_rank(at::equal(buckets.finish(), zero_stage == 0 ? sums : slice_of(layout, sums, world.rank())),
                            "wrong gradients");

            const at::Tensor weights = ramp(layout).mul(-scale), rounded = weights.to(at::kBFloat16);
            const std::int64_t fp32_begin = parameters.fp32_begin();
            parameters.compute_weights().zero_();
            parameters.fp32().zero_();
            if (zero_stage == 0) parameters.compute_weights().copy_(rounded);
            for (std::size_t b = 0; b < 4; ++b) {
                const Bucket own = layout.slice_of(b, world.rank());
                parameters.compute_weights().slice(0, own.begin, own.end).copy_(rounded.slice(0, own.begin, own.end));
            }
            buckets.start_gather(zero_stage == 0 ? weights : slice_of(layout, weights, world.rank()));
            buckets.wait_all();
            require_on_rank(at::equal(parameters.compute_weights().slice(0, 0, fp32_begin), rounded.slice(0, 0, fp32_begin)),
                            "wrong compute weights");
            require_on_rank(at::equal(parameters.fp32(), weights.slice(0, fp32_begin)),
                            "exempt weights were rounded or are wrong");
        }
    });
}

TEST_CASE("gradients that are sent as bf16 are accumulated in fp32") {
    run_ranks(3, [](World& world) {
        const FlatParameters parameters = parameters_for(3);
        GradientBuckets buckets(parameters, world, {.zero_stage = 1, .wire = at::kBFloat16});
        parameters.gradients().fill_(world.rank() == 0 ? 256 : 0.501);  // 0.501 is sent as 0.5
        for (std::size_t b = 0; b < 4; ++b) buckets.ready(b);
        require_on_rank(at::equal(buckets.finish(), at::full({parameters.layout().slice_elements()}, 257.0F)),
                        "rounded on the way");
    });
}

TEST_CASE("bf16 gradients are sent unchanged, and their fp32 sums replace them") {
    const auto run = GENERATE(&testing::run_ranks, &testing::run_gloo_ranks);
    const std::int64_t ranks = GENERATE(2, 3);
    run(ranks, [&](World& world) {
        // d and e stay fp32; the last but one bucket ends in the middle of the memory reserved for slices
        std::vector<ParameterSpec> list = specs();
        list[3].fp32_gradient = list[4].fp32_gradient = true;
        const FlatParameters parameters(ParameterLayout(list, 8000, ranks), at::kBFloat16, at::kCPU,
                                        FlatParameters::Gradients::bf16);
        const ParameterLayout& layout = parameters.layout();
        const GradientStorage& storage = parameters.gradient_storage();
        const std::int64_t narrow = storage.bf16_elements(), all = layout.flat_elements();
        require_on_rank(narrow > 0 && narrow < all, "all gradients are of one type");
        GradientBuckets buckets(parameters, world, {.zero_stage = 1});
        const at::Tensor values = at::arange(all).remainder(251).to(at::kFloat);  // exact in bf16, also times 2 and 4
        for (int step = 0; step < 2; ++step) {
            storage.range(0, narrow).copy_(values.slice(0, 0, narrow) * (1 << world.rank()));
            storage.range(narrow, all - narrow).copy_(values.slice(0, narrow) * (1 << world.rank()));
            for (std::size_t b = 0; b < layout.buckets().size(); ++b) buckets.ready(b);
            require_on_rank(at::equal(buckets.finish(), slice_of(layout, values * ((1 << ranks) - 1), world.rank())),
                            "wrong sums");
        }
    });
}

TEST_CASE("weights can be waited for bucket by bucket, in the order of the forward pass") {
    run_ranks(2, [](World& world) {
        const FlatParameters parameters = parameters_for(2, at::kFloat);
        const ParameterLayout& layout = parameters.layout();
        GradientBuckets buckets(parameters, world, {});
        for (std::size_t b = 0; b < 4; ++b) {
            const Bucket own = layout.slice_of(b, world.rank());
            parameters.compute_weights().slice(0, own.begin, own.end).copy_(ramp(layout).slice(0, own.begin, own.end));
        }
        buckets.start_gather(slice_of(layout, ramp(layout), world.rank()));
        for (const std::size_t b : {3U, 2U, 0U}) {
            buckets.wait_gathered(b);
            const Bucket& range = layout.buckets()[b == 0 ? 1 : b];
            const at::Tensor there = b == 3 ? parameters.fp32() : parameters.compute_weights().slice(0, range.begin, range.end);
            require_on_rank(at::equal(there, ramp(layout).slice(0, range.begin, range.end)),
                            "a bucket is not there after its wait");
        }
    });
}

TEST_CASE("a step sends the bytes that its formula gives") {
    const std::int64_t zero_stage = GENERATE(0, 1);
    const at::ScalarType wire = GENERATE(at::kFloat, at::kBFloat16);
    run_gloo_ranks(3, [&](World& world) {
        const FlatParameters parameters = parameters_for(3);
        GradientBuckets buckets(parameters, world, {zero_stage, wire});
        const Traffic before = world.traffic();
        for (std::size_t b = 0; b < 4; ++b) buckets.ready(b);
        buckets.finish();
        buckets.start_gather(
            at::zeros({zero_stage == 0 ? parameters.layout().flat_elements() : parameters.layout().slice_elements()}));
        buckets.wait_all();
        require_on_rank(buckets.bytes_per_step() > 0 && (world.traffic() - before).bytes_sent == buckets.bytes_per_step(),
                        "wrong count");
    });
}

TEST_CASE("in a world of one only exempt weights are copied") {
    const FlatParameters parameters = parameters_for(1);
    SingleProcess world;
    GradientBuckets buckets(parameters, world, {});
    for (std::size_t b = 0; b < 4; ++b) buckets.ready(b);
    CHECK(buckets.finish().data_ptr() == parameters.gradients().data_ptr());
    const at::Tensor master = ramp(parameters.layout());
    buckets.start_gather(master);
    buckets.wait_all();
    CHECK(at::equal(parameters.fp32(), master.slice(0, parameters.fp32_begin())));
    CHECK(buckets.bytes_per_step() == 0);
}

TEST_CASE("a bucket that is ready twice, out of order or never is an internal error") {
    const FlatParameters parameters = parameters_for(1);
    SingleProcess world;
    GradientBuckets buckets(parameters, world, {});
    buckets.ready(0);
    CHECK_THROWS_AS(buckets.ready(0), std::logic_error);
    CHECK_THROWS_AS(buckets.ready(2), std::logic_error);
    CHECK_THROWS_AS(buckets.finish(), std::logic_error);
}
