#pragma once
// How tensors travel between processes on CPUs: every part of one goes straight to the rank that needs it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include <ATen/core/Tensor.h>

#include "parallel/gloo_group.h"
#include "parallel/store.h"

namespace bertpretrain {

/// Ranks with two connections between each pair: what goes to higher ranks has one, what goes to lower ranks the other. Gloo
/// sends nothing before the receiver has said that it is ready. On one connection for both directions that word stands behind all
/// that the receiver sends itself, and the two directions take turns: measured on a limited link, half of its bandwidth. All
/// begin the same operations in the same order, with contiguous tensors; each returns at once with what waits until it is done.
/// Several may be under way.
class GlooTensors {
public:
    /// @throws DistributedError when not all ranks come within `timeout`
    GlooTensors(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                std::chrono::milliseconds timeout);

    /// Part r of the input goes to rank r; part r of the output comes from it. Sends (W - 1) / W of the input.
    std::function<void()> all_to_all(const at::Tensor& input, const at::Tensor& output);
    /// output = the inputs of all ranks, one after the other; the input may be its own part of it. Sends (W - 1) times the input.
    std::function<void()> all_gather(const at::Tensor& input, const at::Tensor& output);

    void set_timeout(std::chrono::milliseconds timeout);

private:
    template <class PartFor>
    std::function<void()> exchange(const char* what, const PartFor& part_for, const at::Tensor& output);

    std::int64_t rank_, size_;
    GlooGroup upwards_, downwards_;  ///< by where the tensors go
    std::atomic<int> next_tag_ = 0;
};

}  // namespace bertpretrain
