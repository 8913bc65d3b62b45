#pragma once
// One thread that does a rank's communication in order, beside its computing.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "parallel/world.h"

namespace bertpretrain {

/// Does jobs one after the other in the order of send(). After a job has thrown, it and all later ones throw in wait().
class Courier {
public:
    Courier();
    Courier(const Courier&) = delete;
    Courier& operator=(const Courier&) = delete;
    /// Waits for the jobs that were sent, unless one has failed or an exception is on its way: a job may then hang on peers that
    /// do not come, so it is left behind with all that it holds. The process is to end soon after.
    ~Courier();

    /// The result must be waited for.
    std::unique_ptr<Pending> send(std::function<void()> job);

    /// Seconds so far in which jobs were under way, and in which someone stood in wait().
    double busy_seconds() const;
    double waited_seconds() const;

private:
    struct Job;
    struct State;
    class Delivery;
    static void work(const std::shared_ptr<State>& state);

    std::shared_ptr<State> state_;  ///< shared with the thread, which may outlive this
    std::thread thread_;
};

}  // namespace bertpretrain
