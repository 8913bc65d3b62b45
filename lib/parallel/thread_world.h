#pragma once
// A world whose ranks are threads of one process: what many ranks do, without a network.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "parallel/world.h"

namespace bertpretrain {

/// Where the threads meet. Outlives the worlds it hands out.
class ThreadGroup {
public:
    /// @param timeout how long a rank waits for the others before it gives up
    explicit ThreadGroup(std::int64_t ranks, std::chrono::milliseconds timeout = std::chrono::seconds(60));

    /// The world as rank `rank` sees it, for one thread.
    std::unique_ptr<World> world(std::int64_t rank);

    /// This group will not meet again: whoever waits, or comes to wait, gets a DistributedError.
    void abandon();

private:
    friend class ThreadWorld;

    /// What a rank brings to a meeting.
    struct Contribution {
        std::string operation;  ///< must be the same of all
        at::Tensor tensor;
        std::string message;
    };

    /// Brings `own`, calls use() when all contributions are there, and returns when all ranks have used them.
    /// @throws DistributedError when the group was abandoned or timeout ended; std::logic_error when the operations differ
    void meet(std::int64_t rank, Contribution own, const std::function<void(const std::vector<Contribution>&)>& use);
    void arrive();
    /// The group of this name among the same ranks, which ends with this one.
    ThreadGroup& again(const std::string& name);

    std::int64_t ranks_;
    std::chrono::milliseconds timeout_;
    std::vector<Contribution> contributions_;
    std::mutex mutex_;
    std::condition_variable all_here_;
    std::int64_t arrived_ = 0;
    std::uint64_t meetings_ = 0;
    bool abandoned_ = false;
    std::map<std::string, std::unique_ptr<ThreadGroup>> again_;
};

}  // namespace bertpretrain
