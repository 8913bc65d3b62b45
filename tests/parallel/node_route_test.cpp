#include "parallel/node_route.h"

#include <atomic>
#include <future>
#include <numeric>
#include <set>

#include <ATen/ATen.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/run_gloo_ranks.h"

using namespace bertpretrain;
using testing::require_on_rank;
using testing::run_gloo_nodes;
using Nodes = std::vector<std::string>;
using Ranks = std::vector<std::int64_t>;

namespace {

const Nodes in_blocks{"a", "a", "a", "b", "b", "b"}, in_turns{"a", "b", "a", "b", "a", "b"}, mixed{"b", "a", "a", "c", "b", "c"};

/// Returns what a rank gives; the sums of these depend on their order, also in bf16.
at::Tensor input_of(std::int64_t rank, std::int64_t elements, at::ScalarType dtype) {
    return at::cos(at::arange(elements, at::kDouble) * static_cast<double>(3 * rank + 1))
        .mul(std::pow(10.0, static_cast<double>(rank % 3)))
        .to(dtype);
}

/// The sum of some tensors in fp32, from the first to the last, rounded to a dtype.
at::Tensor sum_of(const std::vector<at::Tensor>& tensors, at::ScalarType dtype) {
    at::Tensor sum = tensors.front().to(at::kFloat, false, true);
    for (std::size_t i = 1; i < tensors.size(); ++i) sum.add_(tensors[i].to(at::kFloat));
    return sum.to(dtype);
}

}  // namespace

TEST_CASE("a rank exchanges with the ranks of its node, then with the ranks of the same place on the other nodes") {
    const NodeRoute blocks(in_blocks, 4), turns(in_turns, 4), any(mixed, 4);
    CHECK(blocks.node == Ranks{3, 4, 5});
    CHECK(blocks.rails == std::vector<Ranks>{{0, 3}, {1, 4}, {2, 5}});
    CHECK(blocks.place == 1);
    CHECK(blocks.rank_on_rail() == 1);
    CHECK(turns.node == Ranks{0, 2, 4});
    CHECK(turns.rails == std::vector<Ranks>{{0, 1}, {2, 3}, {4, 5}});
    CHECK(turns.place == 2);
    CHECK(turns.rank_on_rail() == 0);
    CHECK(any.node == Ranks{0, 4});
    CHECK(any.rails == std::vector<Ranks>{{0, 1, 3}, {2, 4, 5}});
    CHECK(any.rail() == Ranks{2, 4, 5});
    CHECK(any.by_rail() == Ranks{0, 1, 3, 2, 4, 5});
    CHECK(any.text() == "0 1 3, 2 4 5");
    CHECK(any.named_nodes == 3);
}

TEST_CASE("nodes of one rank, and nodes with different numbers of ranks, count as one node") {
    for (const Nodes& nodes : {Nodes{"a"}, Nodes{"a", "a", "a"}, Nodes{"a", "b", "c"}, Nodes{"a", "a", "b"}}) {
        const NodeRoute route(nodes, std::ssize(nodes) - 1);
        Ranks all(nodes.size());
        std::iota(all.begin(), all.end(), 0);
        CHECK(route.nodes() == 1);
        CHECK(route.node == all);
        CHECK(route.by_rail() == all);
        CHECK(route.place == std::ssize(nodes) - 1);
        CHECK(route.text().empty());
        CHECK(route.named_nodes == std::ssize(std::set<std::string>(nodes.begin(), nodes.end())));
    }
}

TEST_CASE("a reduce-scatter adds the ranks of a node, rounds the sum to the dtype on the wire, and adds the nodes of the rail") {
    const Nodes nodes = GENERATE(in_blocks, in_turns, mixed);
    const at::ScalarType dtype = GENERATE(at::kFloat, at::kBFloat16);
    constexpr std::int64_t ranks = 6, own = 1000;
    run_gloo_nodes(nodes, [&](World& world) {
        const at::Tensor input = input_of(world.rank(), ranks * own, dtype), output = at::empty({own});
        world.reduce_scatter(input, output)->wait();
        const NodeRoute route(nodes, world.rank());
        std::vector<at::Tensor> of_nodes;
        for (const std::int64_t of_rail : route.rail()) {
            const NodeRoute there(nodes, of_rail);
            std::vector<at::Tensor> of_ranks;
            for (const std::int64_t rank : there.node)
                of_ranks.push_back(input_of(rank, ranks * own, dtype).narrow(0, world.rank() * own, own));
            of_nodes.push_back(sum_of(of_ranks, dtype));
        }
        require_on_rank(at::equal(output, sum_of(of_nodes, at::kFloat)), "another order, or another rounding");
    });
}

TEST_CASE("an all-gather in two stages concatenates the inputs of all ranks in rank order, in place too") {
    const Nodes nodes = GENERATE(in_blocks, in_turns, mixed);
    run_gloo_nodes(nodes, [&](World& world) {
        const at::Tensor gathered = at::full({6 * 50}, -1.0F), own = gathered.narrow(0, world.rank() * 50, 50);
        own.fill_(static_cast<double>(world.rank()));
        world.all_gather(own, gathered)->wait();
        require_on_rank(at::equal(gathered, at::arange(6).repeat_interleave(50).to(at::kFloat)), "wrong order");
    });
}

TEST_CASE("operations in two stages keep their order when several are in flight, and an output may overlap an earlier input") {
    run_gloo_nodes(mixed, [](World& world) {
        // As GradientBuckets packs the sums of bucket b over the front of the gradients, and gathers weights after them.
        constexpr std::int64_t buckets = 9, own = 700, ranks = 6;
        const at::Tensor gradients = at::empty({buckets * ranks * own});
        for (std::int64_t b = 0; b < buckets; ++b)
            gradients.narrow(0, b * ranks * own, ranks * own).copy_(at::arange(ranks * own).add(b * (world.rank() + 1)));
        std::vector<std::unique_ptr<Pending>> pending;
        for (std::int64_t b = 0; b < buckets; ++b)
            pending.push_back(
                world.reduce_scatter(gradients.narrow(0, b * ranks * own, ranks * own), gradients.narrow(0, b * own, own)));
        for (const auto& one : pending) one->wait();
        const at::Tensor sums = gradients.narrow(0, 0, buckets * own), all = at::empty({ranks * buckets * own});
        world.all_gather(sums, all)->wait();
        for (std::int64_t rank = 0; rank < ranks; ++rank)
            for (std::int64_t b = 0; b < buckets; ++b)
                require_on_rank(at::equal(all.narrow(0, (rank * buckets + b) * own, own),
                                          at::arange(own).add(rank * own).mul(ranks).add(b * 21).to(at::kFloat)),
                                "a sum of another bucket");
    });
}

TEST_CASE("a rank that hangs on another node is not looked for among the healthy ranks that wait for it") {
    std::promise<void> others_left;
    std::atomic<int> left = 0;
    std::string said_by_0;
    CHECK_THROWS_AS(run_gloo_nodes({"a", "a", "b", "b"},
                                   [&](World& world) {
                                       world.set_timeout(std::chrono::milliseconds(1500));
                                       if (world.rank() == 3) return others_left.get_future().wait();
                                       try {
                                           world.reduce_scatter(at::zeros({400}), at::zeros({100}))->wait();
                                       } catch (const DistributedError& error) {
                                           if (world.rank() == 0) said_by_0 = error.what();
                                           if (++left == 3) others_left.set_value();
                                           throw;
                                       }
                                   }),
                    DistributedError);
    INFO(said_by_0);
    CHECK(said_by_0.find("lost rank 2") == std::string::npos);
    CHECK(said_by_0.find("between nodes") != std::string::npos);
}

TEST_CASE("each rank sends as many bytes in two stages as in one") {
    run_gloo_nodes(in_blocks, [](World& world) {
        const Traffic before = world.traffic();
        world.reduce_scatter(at::zeros({600}), at::zeros({100}))->wait();
        world.all_gather(at::zeros({50}), at::zeros({300}))->wait();
        require_on_rank((world.traffic() - before).bytes_sent == 2400.0 * 5 / 6 + 200.0 * 5, "wrong count");
    });
}
