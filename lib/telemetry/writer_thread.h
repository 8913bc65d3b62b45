#pragma once
// A thread that writes files, so that the caller never waits for a disk.

#include <cstddef>
#include <functional>
#include <memory>

namespace bertpretrain {

/// Does what is posted, one after the other, on a thread of its own. Members are called by any thread.
class WriterThread {
public:
    using Work = std::function<void()>;

    /// @param most_waiting posted and not yet done
    explicit WriterThread(std::size_t most_waiting);
    WriterThread(const WriterThread&) = delete;
    WriterThread& operator=(const WriterThread&) = delete;
    /// Waits for all that was posted, up to `farewell_seconds`; what a hanging disk holds is then left to the thread, which owns
    /// everything that was posted.
    ~WriterThread();

    /// Blocks only while `most_waiting` are waiting.
    /// @throws the first exception that earlier work threw
    void post(Work work);
    /// The same, but never blocks and never throws. @returns false where `most_waiting` are waiting: `work` is dropped
    bool try_post(Work work) noexcept;

    /// Returns when all that was posted before is done. @throws the first exception that any of it threw
    void drain() const;
    /// The same, but waits no longer than `seconds`, and throws nothing. @returns whether all is done
    bool drain_for(double seconds) const noexcept;

    /// drain() for who may outlive this object.
    std::function<void()> drainer() const;

    static constexpr double farewell_seconds = 5;

private:
    struct State;
    static void run(State& state);
    static void drain(State& state);

    std::shared_ptr<State> state_;
};

}  // namespace bertpretrain
