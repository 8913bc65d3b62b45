#pragma once
// Handles stop signals (listed in core/signals.h), which request a checkpoint and an exit, and SIGUSR1, which requests a
// checkpoint.

#include <atomic>

#include "train/stop/stop_reason.h"

namespace bertpretrain {

/// Handles these signals while it exists. Before await_requests() and after begin_startup(), while a run or its next phase
/// starts, a stop signal ends the process at once, because there is nothing to save. Afterwards, the first stop signal is
/// recorded. Further ones within `repeat_seconds` of the first count as the same request, because systemd, `timeout`, torchrun
/// and launchers deliver one request several times. A later one ends the process at once, without saving; except SIGXCPU, which
/// the system repeats.
class StopRequest {
public:
    explicit StopRequest(double repeat_seconds = 2);
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;
    ~StopRequest();

    /// From now on, stop signals are recorded; the caller must check reason() regularly.
    void await_requests();
    /// From now on, a stop signal ends the process at once. reason() still returns one that came before.
    void begin_startup();

    /// Requests a stop like a signal does. Thread-safe.
    void ask(StopReason reason);

    /// Returns the larger of the first stop signal and the reason last passed to ask(); none, if neither came.
    StopReason reason() const;
    /// Returns whether a checkpoint was requested since the last call.
    bool take_save_request();

private:
    std::atomic<StopReason> asked_ = StopReason();
};

}  // namespace bertpretrain
