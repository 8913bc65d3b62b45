#include "parallel/gloo_stages.h"

#include <vector>

#include "kernels/fused_operations.h"

namespace bertpretrain {
namespace {

at::Tensor part(const at::Tensor& whole, std::int64_t parts, std::int64_t which) {
    const std::int64_t elements = whole.numel() / parts;
    return whole.narrow(0, which * elements, elements);
}

/// Returns what `transfers_with(i)` returns for every one of `count` peers, in an order that begins at `first`, so that each rank
/// begins with another peer. @param step 1 to go up, -1 to go down
template <class TransfersWith>
std::vector<Transfer> in_turns(std::int64_t count, std::int64_t first, std::int64_t step, const TransfersWith& transfers_with) {
    std::vector<Transfer> all;
    for (std::int64_t distance = 0; distance < count; ++distance)
        for (Transfer& transfer : transfers_with((first + count + step * distance) % count)) all.push_back(std::move(transfer));
    return all;
}

}  // namespace

GlooReduction::GlooReduction(std::shared_ptr<GlooTensors> tensors, std::shared_ptr<const NodeRoute> route,
                             const at::Tensor& input)
    : tensors_(std::move(tensors)),
      route_(std::move(route)),
      input_(input),
      tag_of_node_(tensors_->take_tag()),
      tag_of_rail_(tensors_->take_tag()) {}

std::int64_t GlooReduction::room_bytes() const {
    const auto parts = static_cast<std::int64_t>(input_.nbytes());
    return route_->nodes() == 1 ? parts : parts + 2 * parts / route_->ranks_per_node();
}

std::function<void()> GlooReduction::begin(const at::Tensor& room) {
    const std::int64_t L = route_->ranks_per_node(), N = route_->nodes(), ranks = L * N, elements = input_.numel();
    const at::Tensor all = room.narrow(0, 0, room_bytes()).view(input_.scalar_type());
    parts_LNS_ = all.narrow(0, 0, elements).view({L, N, elements / ranks});
    if (N > 1) {
        sums_NS_ = all.narrow(0, elements, elements / L).view({N, elements / ranks});
        of_rail_NS_ = all.narrow(0, elements + elements / L, elements / L).view({N, elements / ranks});
    }
    const auto sends = in_turns(L, route_->place, 1, [&](std::int64_t l) {
        std::vector<Transfer> to_peer;
        for (const std::int64_t rank : route_->rails[static_cast<std::size_t>(l)])
            to_peer.push_back({part(input_, ranks, rank), route_->node[static_cast<std::size_t>(l)]});
        return to_peer;
    });
    const auto receives = in_turns(L, route_->place, -1, [&](std::int64_t l) {
        std::vector<Transfer> from_peer;
        for (std::int64_t n = 0; n < N; ++n) from_peer.push_back({parts_LNS_[l][n], route_->node[static_cast<std::size_t>(l)]});
        return from_peer;
    });
    const std::function<void()> arrived = tensors_->exchange("reduce-scatter", tag_of_node_, sends, receives);
    if (N == 1) return arrived;
    return [this, arrived] {
        arrived();
        exchange_sums();
    };
}

void GlooReduction::exchange_sums() {
    const std::int64_t N = route_->nodes(), own = route_->rank_on_rail();
    add_parts(parts_LNS_.flatten(1), sums_NS_.flatten());
    const auto with_peer = [&](const at::Tensor& tensors_NS) {
        return [&](std::int64_t n) {
            return std::vector<Transfer>{{tensors_NS[n], route_->rail()[static_cast<std::size_t>(n)]}};
        };
    };
    tensors_->exchange("reduce-scatter between nodes", tag_of_rail_, in_turns(N, own, 1, with_peer(sums_NS_)),
                       in_turns(N, own, -1, with_peer(of_rail_NS_)), /*waits_for_others=*/true)();
}

void GlooReduction::finish(const at::Tensor& output) const {
    add_parts(route_->nodes() == 1 ? parts_LNS_.flatten(1) : of_rail_NS_, output);
}

std::function<void()> gather_over(const std::shared_ptr<GlooTensors>& tensors, const std::shared_ptr<const NodeRoute>& route,
                                  int tag_of_node, int tag_of_rail, const at::Tensor& input, const at::Tensor& output) {
    const std::int64_t L = route->ranks_per_node(), N = route->nodes(), ranks = L * N;
    const auto to_node = [=] {
        // To each rank of the node goes what this rank's rail has; from each comes what its rail has.
        const auto with_peer = [&](bool sends) {
            return in_turns(L, route->place, sends ? 1 : -1, [&](std::int64_t l) {
                std::vector<Transfer> parts;
                for (const std::int64_t rank : sends ? route->rail() : route->rails[static_cast<std::size_t>(l)])
                    parts.push_back({part(output, ranks, rank), route->node[static_cast<std::size_t>(l)]});
                return parts;
            });
        };
        return tensors->exchange("all-gather", tag_of_node, with_peer(true), with_peer(false), /*waits_for_others=*/N > 1);
    };
    const auto along_rail = [&](bool sends) {
        return in_turns(N, route->rank_on_rail(), sends ? 1 : -1, [&](std::int64_t n) {
            const std::int64_t peer = route->rail()[static_cast<std::size_t>(n)];
            return std::vector<Transfer>{{sends ? input : part(output, ranks, peer), peer}};
        });
    };
    const std::function<void()> arrived =
        tensors->exchange(N == 1 ? "all-gather" : "all-gather between nodes", tag_of_rail, along_rail(true), along_rail(false));
    if (N == 1) return to_node();
    return [arrived, to_node] {
        arrived();
        to_node()();
    };
}

}  // namespace bertpretrain
