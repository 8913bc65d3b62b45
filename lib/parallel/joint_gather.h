#pragma once
// Several all-gathers of numbers that travel in one message.

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "parallel/control_group.h"

namespace bertpretrain {

/// The time of a small message is the network's latency, so one message with all numbers is faster than several. All ranks add
/// the same parts in the same order, each with equally many numbers on every rank.
class JointGather {
public:
    /// Takes a part's numbers of all ranks, in rank order.
    using Use = std::function<void(std::vector<double> of_all)>;

    void add(std::vector<double> own, Use use) { parts_.push_back({std::move(own), std::move(use)}); }

    /// Sends all parts in one message, then calls each part's `use`, in the order in which the parts were added. All ranks call
    /// it together, once. @throws DistributedError as ControlGroup
    void run(ControlGroup& ranks) const;

private:
    struct Part {
        std::vector<double> own;
        Use use;
    };
    std::vector<Part> parts_;
};

}  // namespace bertpretrain
