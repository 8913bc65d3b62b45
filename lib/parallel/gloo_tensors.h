#pragma once
// Tensor exchange between processes on CPUs: each part of a tensor goes directly to a rank that needs it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/gloo_group.h"
#include "parallel/store.h"

namespace bertpretrain {

/// A tensor that goes to a rank, or comes from it.
struct Transfer {
    at::Tensor tensor;
    std::int64_t peer = 0;
};

/// Each pair of ranks has two connections, one for each direction. Gloo sends nothing before the receiver has announced that it
/// is ready. On a shared connection that announcement queues after the data that the receiver itself sends, so the directions
/// take turns: on a limited link this measured half of the bandwidth. An operation returns at once, with a function that blocks
/// until it is done; several may be in flight.
class GlooTensors {
public:
    /// @throws DistributedError when not all ranks connect within `timeout`
    GlooTensors(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                std::chrono::milliseconds timeout);

    /// Returns a tag for exchanges. All ranks take a tag for the same operation by the same call, counted from the start.
    int take_tag();

    /// Sends and receives tensors, contiguous and not empty. What this rank sends to itself is copied at once; the order of the
    /// transfers decides which of its tensors goes to which, as between any two ranks with the same tag.
    /// @param what the operation, for error messages
    /// @param waits_for_others whether peers may have to wait for other ranks before they can send, as GlooGroup's
    std::function<void()> exchange(const char* what, int tag, const std::vector<Transfer>& sends,
                                   const std::vector<Transfer>& receives, bool waits_for_others = false);

    /// tensor = the sum of all ranks' tensors, by Gloo's own all-reduce. Sends 2 (W - 1) / W of the tensor. All ranks begin the
    /// same all-reduces in the same order.
    std::function<void()> all_reduce(const at::Tensor& tensor) { return upwards_.all_reduce(tensor); }

    void set_timeout(std::chrono::milliseconds timeout);
    /// As GlooGroup's.
    void set_peers(const std::shared_ptr<const PeerNames>& peers) {
        upwards_.set_peers(peers);
        downwards_.set_peers(peers);
    }

private:
    std::int64_t rank_;
    GlooGroup upwards_, downwards_;  ///< carry tensors to higher and to lower ranks
    std::atomic<int> next_tag_ = 0;
};

}  // namespace bertpretrain
