// A single process that connects to itself runs all communication code.
#include <ATen/ATen.h>

#include "parallel/gradient_buckets.h"
#include "parallel/make_world.h"
#include "support/catch.h"
#include "support/counting_world.h"

using namespace bertpretrain;

namespace {

Launch launch_with(const std::string& forced) {
    return read_launch([&](const std::string& name) {
        return name == force_world_variable && !forced.empty() ? std::optional(forced) : std::nullopt;
    });
}

std::unique_ptr<World> make(const std::string& forced) { return make_world(launch_with(forced), std::chrono::seconds(20)); }

}  // namespace

TEST_CASE("a single process communicates only when it is told to") {
    CHECK_FALSE(make("")->communicates());
    CHECK_FALSE(make("0")->communicates());
    const auto world = make("1");
    CHECK(world->communicates());
    CHECK(world->size() == 1);
    CHECK_THROWS_WITH(launch_with("yes"), Catch::Contains(force_world_variable));
}

TEST_CASE("a forced world of one answers messages and moves tensors") {
    const auto world = make("1");
    world->barrier();
    CHECK(world->all_gather_texts("own") == std::vector<std::string>{"own"});
    CHECK(world->gather_at_first("first") == std::vector<std::string>{"first"});
    CHECK(world->text_of_first("text") == "text");
    CHECK(world->connect_again("again")->sum(3) == 3);
    const at::Tensor values = at::arange(5).to(at::kFloat), sums = at::zeros({5}), gathered = at::zeros({5});
    world->reduce_scatter(values, sums)->wait();
    world->all_gather(values, gathered)->wait();
    CHECK(at::equal(sums, values));
    CHECK(at::equal(gathered, values));
    const at::Tensor odd = at::full({3}, 0.5, at::kBFloat16), exact = at::zeros({3});
    world->reduce_scatter(odd, exact)->wait();
    CHECK(at::equal(exact, at::full({3}, 0.5F)));
}

TEST_CASE("in a forced world of one every bucket is sent and comes back unchanged") {
    const std::int64_t zero_stage = GENERATE(0, 1);
    const auto forced = make("1");
    testing::CountingWorld world(*forced);
    const FlatParameters parameters(ParameterLayout({{"a", {9000}, true}, {"b", {13000}, true}, {"c", {4200}, false}}, 8000, 1),
                                    at::kBFloat16, at::kCPU);
    const auto count = static_cast<int>(parameters.layout().buckets().size());
    GradientBuckets buckets(parameters, world, {.zero_stage = zero_stage});
    const at::Tensor values = at::arange(parameters.layout().flat_elements()).to(at::kFloat);
    for (int step = 0; step < 2; ++step) {
        parameters.gradients().copy_(values);
        for (int b = 0; b < count; ++b) buckets.ready(static_cast<std::size_t>(b));
        CHECK(at::equal(buckets.finish(), values));
        parameters.compute_weights().copy_(values);
        parameters.fp32().zero_();
        buckets.start_gather(values);
        buckets.wait_all();
        CHECK(at::equal(parameters.compute_weights(), values.to(at::kBFloat16)));
        CHECK(at::equal(parameters.fp32(), values.slice(0, parameters.fp32_begin())));
    }
    CHECK(world.reduced == 2 * count);
    CHECK(world.gathered == 2 * count);  // stage 0: the sums; stage 1: the weights
}
