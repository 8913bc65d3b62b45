#pragma once
// Runs communication in the background of computation: tasks begin and finish in order, at most two in flight.

#include <functional>
#include <memory>

#include "core/threads/detached_worker.h"
#include "parallel/world.h"

namespace bertpretrain {

/// One communication operation that runs while the caller computes.
struct AsyncTask {
    /// Starts the operation without blocking and returns a function that blocks until it has completed.
    std::function<std::function<void()>()> begin;
    /// Local work after completion (a sum), done while the next task is in flight; empty: none.
    std::function<void()> finish;
    /// Whether the task sends what earlier tasks' finish() writes: then it begins only after they are done.
    bool sends_results = false;
};

/// Runs tasks in order, at most two in flight: while one runs finish() or wakes threads, the other keeps the link busy.
/// After a task has failed, wait() of that task and of all later ones throws.
class AsyncQueue {
public:
    AsyncQueue();
    /// Waits for all tasks, unless a task has failed or an exception is being propagated. The thread could then hang on missing
    /// peers, so it is left to them; the process is expected to end soon after.
    ~AsyncQueue();

    /// Queues a task; tasks begin and finish in the order of the calls. The caller must wait() on the result.
    std::unique_ptr<Pending> send(AsyncTask task);

    /// Seconds so far with a task in flight, and seconds that callers spent in wait().
    double busy_seconds() const;
    double waited_seconds() const;

private:
    struct Job;
    struct State;
    class Delivery;

    std::shared_ptr<State> state_;  ///< shared with the thread
    DetachedWorker thread_;
};

}  // namespace bertpretrain
