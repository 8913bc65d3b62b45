#pragma once
// The world of processes on CPUs.

#include <memory>
#include <string>

#include "parallel/async_queue.h"
#include "parallel/gloo_messages.h"
#include "parallel/gloo_tensors.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Tensors travel in the background, two operations at a time; messages have connections of their own, so that
/// they overtake tensors. A reduce-scatter is an exchange of parts and a sum in the order of ranks, for Gloo's own would send
/// twice as much and add in an order that depends on the number of ranks.
class GlooWorld final : public World {
public:
    /// All ranks make it together. @param address this host's, for the others; empty: as GLOO_SOCKET_IFNAME says
    /// @throws DistributedError when not all come within `timeout`
    GlooWorld(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
              std::chrono::milliseconds timeout);

    std::int64_t rank() const override { return rank_; }
    std::int64_t size() const override { return size_; }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override;
    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override;
    using World::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override { return messages_.all_gather(own); }
    std::vector<std::string> gather_at_first(std::string_view own) override { return messages_.gather_at_first(own); }
    void broadcast_from_first(std::span<std::byte> bytes) override { messages_.broadcast_from_first(bytes); }
    void set_timeout(std::chrono::milliseconds timeout) override;
    Traffic traffic() const override;
    std::unique_ptr<ControlGroup> connect_again(const std::string& name) override { return messages_.connect_again(name); }

private:
    std::int64_t rank_, size_;
    std::shared_ptr<GlooTensors> tensors_;  ///< the queue's tasks hold it too
    GlooMessages messages_;
    double tensor_bytes_ = 0;
    struct Rooms;
    std::shared_ptr<Rooms> rooms_;  ///< for the parts of the reduce-scatters under way, reused
    AsyncQueue queue_;              ///< last: its tasks end before what they use
};

}  // namespace bertpretrain
