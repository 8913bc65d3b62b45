#include "parallel/world.h"

#include <cmath>
#include <future>

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/run_gloo_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using testing::run_ranks;

TEST_CASE("reduce-scatter gives each rank the sum of its part, accumulated in fp32 in rank order") {
    const auto run_ranks = GENERATE(&testing::run_ranks, &testing::run_gloo_ranks);
    run_ranks(3, [&](World& world) {
        // 2^24 + 1 rounds back to 2^24 in fp32, so (2^24 + 1) + 1 shows the order: 2^24; any other order gives 2^24 + 2.
        const float own = world.rank() == 0 ? 0x1p24F : 1.0F;
        const at::Tensor input = at::full({6}, own), output = at::empty({2});
        const auto pending = world.reduce_scatter(input, output);
        if (run_ranks == &testing::run_ranks && !std::isnan(output.const_data_ptr<float>()[0]))
            throw std::runtime_error("the output was there before wait()");
        pending->wait();
        if (!at::equal(output, at::full({2}, 0x1p24F))) throw std::runtime_error("another order of summation");
    });
    run_ranks(4, [](World& world) {
        const at::Tensor input = at::arange(8).to(at::kFloat).mul(1 << world.rank()), output = at::empty({2});
        world.reduce_scatter(input, output)->wait();
        if (!at::equal(output, at::arange(2).to(at::kFloat).add(2 * world.rank()).mul(15)))
            throw std::runtime_error("wrong part or sum");
    });
}

TEST_CASE("a reduce-scatter of bf16 accumulates in fp32") {
    const auto run_ranks = GENERATE(&testing::run_ranks, &testing::run_gloo_ranks);
    run_ranks(3, [](World& world) {
        const at::Tensor input = at::full({3}, world.rank() == 0 ? 256.0 : 1.0, at::kBFloat16),
                         output = at::empty({1}, at::kBFloat16);
        world.reduce_scatter(input, output)->wait();
        if (output.item<float>() != 258) throw std::runtime_error("256 + 1 + 1 was rounded on the way");
        const at::Tensor exact = at::empty({1}), odd = at::full({3}, world.rank() == 0 ? 256.0 : 0.5, at::kBFloat16);
        world.reduce_scatter(odd, exact)->wait();
        if (exact.item<float>() != 257) throw std::runtime_error("the sum was rounded to the type on the wire");
    });
}

TEST_CASE("all-gather concatenates the inputs of all ranks in rank order") {
    const auto run_ranks = GENERATE(&testing::run_ranks, &testing::run_gloo_ranks);
    run_ranks(3, [](World& world) {
        const at::Tensor input = at::full({2}, static_cast<double>(world.rank()), at::kBFloat16),
                         output = at::empty({6}, at::kBFloat16);
        const auto first = world.all_gather(input, output);
        const at::Tensor more = at::empty({3});
        const auto second = world.all_gather(at::full({1}, static_cast<double>(world.rank())), more);
        first->wait();
        second->wait();
        for (int i = 0; i < 6; ++i)
            if (output[i].item<float>() != static_cast<float>(i / 2)) throw std::runtime_error("wrong order");
        if (!at::equal(more, at::arange(3).to(at::kFloat))) throw std::runtime_error("wrong second gather");
    });
}

TEST_CASE("ranks agree on numbers") {
    const auto run_ranks = GENERATE(&testing::run_ranks, &testing::run_gloo_ranks);
    run_ranks(3, [](World& world) {
        const double own[] = {static_cast<double>(world.rank()), 0.1};
        const bool gathered = world.all_gather(own) == std::vector<double>{0, 0.1, 1, 0.1, 2, 0.1};
        const bool agreed = world.agree_on_largest(world.rank() == 1 ? -3 : -7) == -3 && world.sum(world.rank() + 1) == 6;
        world.barrier();
        const std::string text(static_cast<std::size_t>(world.rank()) * 3, 'x');
        if (world.all_gather_texts(text) != std::vector<std::string>{"", "xxx", "xxxxxx"})
            throw std::runtime_error("texts of different lengths came back changed");
        if (!gathered || !agreed) throw std::runtime_error("disagreement");
    });
    SingleProcess alone;
    CHECK(alone.agree_on_largest(-4) == -4);
    CHECK(alone.sum((std::int64_t{1} << 53) - 1) == (std::int64_t{1} << 53) - 1);
    CHECK_THROWS_AS(alone.sum(std::int64_t{1} << 53), std::logic_error);
}

TEST_CASE("a peer that announces an absurdly long text is refused before memory is allocated for it") {
    const auto refuses = [](const std::function<void()>& receive) {
        try {
            receive();
        } catch (const DistributedError& error) {
            return std::string(error.what()).find("expected at most") != std::string::npos;
        }
        return false;
    };
    for (const double length : {1e15, -1.0, std::nan(""), 1e300})
        testing::run_gloo_ranks(2, [&](World& world) {
            if (world.rank() == 1) world.all_gather(std::span(&length, 1));
            else if (!refuses([&] { world.all_gather_texts("text"); }))
                throw std::runtime_error("room was made for an absurd text");
        });
    testing::run_gloo_ranks(2, [&](World& world) {
        auto length = ~std::uint64_t{0};
        if (world.rank() == 0) world.broadcast_from_first(std::as_writable_bytes(std::span(&length, 1)));
        else if (!refuses([&] { world.text_of_first(""); })) throw std::runtime_error("room was made for an absurd text");
    });
}

TEST_CASE("a world of one copies only where input and output are different memory") {
    SingleProcess alone;
    const at::Tensor values = at::arange(5).to(at::kFloat), other = at::empty({5});
    alone.reduce_scatter(values, values)->wait();
    alone.all_gather(values, other)->wait();
    CHECK(at::equal(values, at::arange(5).to(at::kFloat)));
    CHECK(at::equal(other, values));
}

TEST_CASE("a rank that fails, or does not join, ends the wait of the others") {
    CHECK_THROWS_WITH(run_ranks(3,
                                [](World& world) {
                                    if (world.rank() == 1) throw std::runtime_error("rank 1 is ill");
                                    world.barrier();
                                }),
                      "rank 1 is ill");
    ThreadGroup group(2, std::chrono::milliseconds(20));
    CHECK_THROWS_AS(group.world(0)->barrier(), DistributedError);
}

TEST_CASE("ranks that call different operations get a logic_error") {
    CHECK_THROWS_AS(run_ranks(2,
                              [](World& world) {
                                  if (world.rank() == 0) world.barrier();
                                  else world.sum(1);
                              }),
                    std::logic_error);
}

TEST_CASE("messages do not wait for tensors, and operations complete in the order in which they began") {
    testing::run_gloo_ranks(2, [](World& world) {
        std::vector<std::unique_ptr<Pending>> pending;
        std::vector<at::Tensor> outputs;
        for (int i = 0; i < 5; ++i) {
            outputs.push_back(at::empty({200'000}));
            pending.push_back(world.all_gather(at::full({100'000}, static_cast<double>(i)), outputs.back()));
        }
        if (world.sum(1) != 2) throw std::runtime_error("wrong sum");
        pending.back()->wait();
        for (int i = 0; i < 5; ++i)
            if (!at::equal(outputs[static_cast<std::size_t>(i)], at::full({200'000}, static_cast<float>(i))))
                throw std::runtime_error("an earlier tensor was not there");
    });
}

TEST_CASE("bytes are counted as ring collectives send them") {
    testing::run_gloo_ranks(3, [](World& world) {
        const Traffic before = world.traffic();
        world.reduce_scatter(at::zeros({300}), at::zeros({100}))->wait();
        world.all_gather(at::zeros({50}, at::kBFloat16), at::zeros({150}, at::kBFloat16))->wait();
        const Traffic sent = world.traffic() - before;
        if (sent.bytes_sent != 1200.0 * 2 / 3 + 100.0 * 2) throw std::runtime_error("wrong count");
        if (sent.busy_seconds <= 0) throw std::runtime_error("no time passed");
    });
}

TEST_CASE("a peer that is gone or silent ends the wait with a DistributedError within the timeout") {
    const bool gone = GENERATE(true, false);
    const auto begin = std::chrono::steady_clock::now();
    std::promise<void> noticed;
    CHECK_THROWS_AS(testing::run_gloo_ranks(2,
                                            [&](World& world) {
                                                world.set_timeout(std::chrono::milliseconds(400));
                                                if (world.rank() == 1 && gone) return;
                                                if (world.rank() == 1) noticed.get_future().wait();
                                                try {
                                                    world.all_gather(at::zeros({50}), at::zeros({100}))->wait();
                                                } catch (...) {
                                                    if (world.rank() == 0) noticed.set_value();
                                                    throw;
                                                }
                                            }),
                    DistributedError);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}
