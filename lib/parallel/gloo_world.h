#pragma once
// The world of processes on CPUs, over Gloo.

#include <memory>
#include <string>

#include "parallel/async_queue.h"
#include "parallel/gloo_messages.h"
#include "parallel/gloo_tensors.h"
#include "parallel/node_route.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Tensors are sent in the background, two operations at a time; messages have connections of their own, so they overtake
/// tensors. A reduce-scatter is an exchange of parts followed by a sum, in the two stages of a NodeRoute: Gloo's own would send
/// twice as much.
class GlooWorld final : public World {
public:
    /// All ranks construct it together. @param address of this host, for the others; empty: chosen by GLOO_SOCKET_IFNAME
    /// @param node the same for all ranks of a node
    /// @throws DistributedError when not all ranks connect within `timeout`
    GlooWorld(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
              std::chrono::milliseconds timeout, const std::string& node = node_name());

    std::int64_t rank() const override { return rank_; }
    std::int64_t size() const override { return size_; }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override;
    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override;
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor) override;
    using World::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override { return messages_.all_gather(own); }
    std::vector<std::string> gather_at_first(std::string_view own) override { return messages_.gather_at_first(own); }
    void broadcast_from_first(std::span<std::byte> bytes) override { messages_.broadcast_from_first(bytes); }
    void set_timeout(std::chrono::milliseconds timeout) override;
    Traffic traffic() const override;
    NodeRoute route() const override { return *route_; }
    std::unique_ptr<ControlGroup> connect_again(const std::string& name) override { return messages_.connect_again(name); }

private:
    std::int64_t rank_, size_;
    std::shared_ptr<GlooTensors> tensors_;  ///< shared with the queue's tasks
    GlooMessages messages_;
    std::shared_ptr<const NodeRoute> route_;
    double tensor_bytes_ = 0;
    struct Rooms;
    std::shared_ptr<Rooms> rooms_;  ///< receive buffers of the reduce-scatters in flight, reused
    AsyncQueue queue_;              ///< last member, so that its tasks end before what they use is destroyed
};

}  // namespace bertpretrain
