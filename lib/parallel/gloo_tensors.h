#pragma once
// Tensor exchange between processes on CPUs: each part of a tensor goes directly to the rank that needs it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "parallel/gloo_group.h"
#include "parallel/store.h"

namespace bertpretrain {

/// Each pair of ranks has two connections, one for each direction. Gloo sends nothing before the receiver has announced that it
/// is ready. On a shared connection that announcement queues after the data that the receiver itself sends, so the directions
/// take turns: on a limited link this measured half of the bandwidth. All ranks begin the same operations in the same order,
/// with contiguous tensors. An operation returns at once, with a function that blocks until it is done; several may be in flight.
class GlooTensors {
public:
    /// @throws DistributedError when not all ranks connect within `timeout`
    GlooTensors(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                std::chrono::milliseconds timeout);

    /// Sends part r of the input to rank r and receives part r of the output from it. Sends (W - 1) / W of the input.
    std::function<void()> all_to_all(const at::Tensor& input, const at::Tensor& output);
    /// output = the inputs of all ranks in rank order; the input may be this rank's part of it. Sends (W - 1) times the input.
    std::function<void()> all_gather(const at::Tensor& input, const at::Tensor& output);

    /// tensor = the sum of all ranks' tensors, by Gloo's own all-reduce. Sends 2 (W - 1) / W of the tensor.
    std::function<void()> all_reduce(const at::Tensor& tensor) { return upwards_.all_reduce(tensor); }

    void set_timeout(std::chrono::milliseconds timeout);
    /// As GlooGroup's.
    void set_peers(const std::shared_ptr<const PeerNames>& peers) {
        upwards_.set_peers(peers);
        downwards_.set_peers(peers);
    }

private:
    template <class PartFor>
    std::function<void()> exchange(const char* what, const PartFor& part_for, const at::Tensor& output);

    std::int64_t rank_, size_;
    GlooGroup upwards_, downwards_;  ///< carry tensors to higher and to lower ranks
    std::atomic<int> next_tag_ = 0;
};

}  // namespace bertpretrain
