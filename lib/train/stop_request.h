#pragma once
// SIGTERM and SIGINT ask for a checkpoint and an end.

namespace bertpretrain {

/// While it lives, the first SIGTERM or SIGINT is remembered and the second one ends the process at once.
class StopRequest {
public:
    StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;
    ~StopRequest();

    /// The signal's number, 0 while there was none.
    int signal() const;
};

}  // namespace bertpretrain
