#pragma once
// A queue whose thread may outlive a dead disk or peer.

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

namespace bertpretrain {

/// Runs posted work in order on its own thread. All members are thread-safe. Work must own what it uses: where it hangs, it
/// outlives this object.
class DetachedWorker {
public:
    using Work = std::function<void()>;
    static constexpr double usual_farewell_seconds = 5;
    static constexpr double for_ever = 1e9;  ///< seconds; an infinite number overflows the clock

    /// @param farewell_seconds how long the destructor waits for all posted work; 0: not at all
    /// @param most_waiting maximum length of the queue, not counting running work
    explicit DetachedWorker(double farewell_seconds = usual_farewell_seconds,
                            std::size_t most_waiting = std::numeric_limits<std::size_t>::max());
    DetachedWorker(const DetachedWorker&) = delete;
    DetachedWorker& operator=(const DetachedWorker&) = delete;
    /// Waits up to `farewell_seconds`. Work that is not done then is left to the thread, which still does all of it.
    ~DetachedWorker();

    /// Blocks only while the queue is full.
    /// @throws the first exception that earlier work threw
    void post(Work work);
    /// Like post(), but never blocks or throws. @returns false if the queue is full; `work` is then dropped
    bool try_post(Work work) noexcept;

    /// Blocks until all work posted before is done. @throws the first exception that any work threw
    void drain() const;
    /// Like drain(), but waits at most `seconds` and does not throw. @returns whether all work is done
    bool drain_for(double seconds) const noexcept;

    /// Returns drain() as a function that may outlive this object.
    std::function<void()> drainer() const;

    /// The destructor will not wait.
    void abandon() { farewell_seconds_ = 0; }

private:
    struct State;

    std::shared_ptr<State> state_;  ///< shared with the thread
    double farewell_seconds_;
    std::thread thread_;
};

}  // namespace bertpretrain
