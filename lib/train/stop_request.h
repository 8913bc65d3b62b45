#pragma once
// Signals that ask for a checkpoint and an end (core/signals.h lists them), and SIGUSR1, which asks for a checkpoint.

#include <atomic>

namespace bertpretrain {

/// While it lives, it handles these signals. Those that ask for an end do so at once while the run starts, because there is
/// nothing to save yet. After await_requests() the first one is remembered. Further ones are the same request while fewer than
/// `repeat_seconds` have passed since the first: systemd, `timeout`, torchrun and a launcher deliver one request several times.
/// After that a further one ends the process at once, without saving; but SIGXCPU never does, because the system repeats it.
class StopRequest {
public:
    explicit StopRequest(double repeat_seconds = 2);
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;
    ~StopRequest();

    /// From now on someone asks signal() again and again.
    void await_requests();

    /// Asks for the end as a signal does, from any thread. @param reason a number above those of all signals: it counts more
    void ask(int reason);

    /// The number of the signal that asked for the end, or the reason given to ask(); 0 while there was none.
    int signal() const;
    /// Whether a checkpoint was asked for since this was last asked.
    bool take_save_request();

private:
    std::atomic<int> reason_ = 0;
};

}  // namespace bertpretrain
