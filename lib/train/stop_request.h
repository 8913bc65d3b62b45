#pragma once
// SIGTERM and SIGINT ask for a checkpoint and an end, SIGUSR1 for a checkpoint.

namespace bertpretrain {

/// While it lives, these signals are ours. SIGTERM and SIGINT end the process at once while the run starts, for there is nothing
/// to save yet; after await_requests() the first is remembered and the second ends the process at once.
class StopRequest {
public:
    StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;
    ~StopRequest();

    /// From now on someone asks signal() again and again.
    void await_requests();

    /// The number of the signal that asked for the end, 0 while there was none.
    int signal() const;
    /// Whether a checkpoint was asked for since this was last asked.
    bool take_save_request();
};

}  // namespace bertpretrain
