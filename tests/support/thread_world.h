#pragma once
// A world whose ranks are threads of one process, to test several ranks without a network.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel/world.h"

namespace bertpretrain::testing {

/// For checks on a rank's thread, where Catch's macros may not be used: the exception ends the test.
inline void require_on_rank(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

/// The ranks' shared state. Must outlive the worlds that it returns.
class ThreadGroup {
public:
    /// @param timeout how long a rank waits for the others before it throws
    explicit ThreadGroup(std::int64_t ranks, std::chrono::milliseconds timeout = std::chrono::seconds(60));

    /// Returns the world of rank `rank`, for use by one thread.
    std::unique_ptr<World> world(std::int64_t rank);

    /// Ends all operations: ranks that wait now or later get a DistributedError.
    void abandon();

private:
    friend class ThreadWorld;

    /// A rank's input to an operation.
    struct Contribution {
        std::string operation;  ///< must be the same on all ranks
        at::Tensor tensor;
        std::string message;
    };

    /// Contributes `own`, calls use() when all contributions are present, and returns when all ranks have used them.
    /// @throws DistributedError when the group was abandoned or the timeout expired; std::logic_error when the operations differ
    void meet(std::int64_t rank, Contribution own, const std::function<void(const std::vector<Contribution>&)>& use);
    void arrive();
    /// Returns the group of this name among the same ranks; this group owns it.
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

}  // namespace bertpretrain::testing
