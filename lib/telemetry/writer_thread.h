#pragma once
// A thread that writes files, so that the caller does not wait for the disk.

#include <cstddef>
#include <functional>
#include <memory>

namespace bertpretrain {

/// Runs posted work in order on its own thread. All members are thread-safe.
class WriterThread {
public:
    using Work = std::function<void()>;

    /// @param most_waiting maximum length of the queue, not counting running work
    explicit WriterThread(std::size_t most_waiting);
    WriterThread(const WriterThread&) = delete;
    WriterThread& operator=(const WriterThread&) = delete;
    /// Waits up to `farewell_seconds` for all posted work. Work that still hangs on a disk is left to the thread, which owns it.
    ~WriterThread();

    /// Blocks only while the queue is full.
    /// @throws the first exception that earlier work threw
    void post(Work work);
    /// The same, but never blocks or throws. @returns false if the queue is full; `work` is then dropped
    bool try_post(Work work) noexcept;

    /// Blocks until all work posted before is done. @throws the first exception that any work threw
    void drain() const;
    /// The same, but waits at most `seconds` and does not throw. @returns whether all work is done
    bool drain_for(double seconds) const noexcept;

    /// Returns drain() as a function that may outlive this object.
    std::function<void()> drainer() const;

    static constexpr double farewell_seconds = 5;

private:
    struct State;
    static void run(State& state);
    static void drain(State& state);

    std::shared_ptr<State> state_;
};

}  // namespace bertpretrain
