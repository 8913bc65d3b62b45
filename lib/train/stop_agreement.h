#pragma once
// Leaving long work in the middle, all ranks at the same place.

#include <cstdint>

#include "parallel/world.h"
#include "train/stop_request.h"

namespace bertpretrain {

/// Work that is cut by borders (micro-batches, batches of an evaluation), which all ranks reach equally often. Every few seconds
/// of work the ranks agree at a border whether one was asked to stop; in shorter work they never do.
class StopAgreement {
public:
    /// Both must outlive it.
    StopAgreement(World& world, const StopRequest& requests) : world_(world), requests_(requests) {}

    /// The work begins anew.
    void begin();
    /// At a border; all ranks call it together. @returns whether to leave the work
    bool leave();
    /// Bytes that the agreements in this work have sent: how many there were depends on the clock.
    double bytes_sent() const { return bytes_sent_; }

private:
    void count_from_here();

    World& world_;
    const StopRequest& requests_;
    double bytes_sent_ = 0;
    double since_ = 0;                      ///< the work's begin or the last agreement
    std::int64_t borders_ = 0, every_ = 1;  ///< since then; that make some seconds, as far as is known
};

}  // namespace bertpretrain
