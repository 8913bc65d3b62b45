#pragma once
// What travels between ranks beside their computing: begun in order, finished in order, two tasks under way at a time.

#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "parallel/world.h"

namespace bertpretrain {

/// Something that travels while its sender computes.
struct AsyncTask {
    /// Returns soon, with what waits for the arrival.
    std::function<std::function<void()>()> begin;
    /// What is left to do on arrival (a sum); empty: nothing. The next task travels meanwhile.
    std::function<void()> finish;
    /// It sends what earlier tasks finish with: begins only when they are.
    bool sends_results = false;
};

/// Runs tasks. Two are under way at most: while one is finished, or wakes threads on its way, the other keeps the link busy.
/// After one has failed, it and all later ones throw in wait().
class AsyncQueue {
public:
    AsyncQueue();
    AsyncQueue(const AsyncQueue&) = delete;
    AsyncQueue& operator=(const AsyncQueue&) = delete;
    /// Waits for all tasks, unless one has failed or an exception is on its way: it may then hang on peers that do not come,
    /// so it is left behind with all that it holds. The process is to end soon after.
    ~AsyncQueue();

    /// Errands begin and are finished in the order of the calls. The result must be waited for.
    std::unique_ptr<Pending> send(AsyncTask task);

    /// Seconds so far in which tasks were under way, and in which someone stood in wait().
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
