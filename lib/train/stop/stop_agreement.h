#pragma once
// Lets all ranks leave long work early at the same place.

#include <cstdint>

#include "parallel/world.h"
#include "train/stop/stop_request.h"

namespace bertpretrain {

/// For work with borders (between micro-batches, or batches of an evaluation) that all ranks reach equally often. Every few
/// seconds the ranks agree at a border whether one of them was asked to stop. In shorter work they normally do not communicate.
class StopAgreement {
public:
    /// Both must outlive this object.
    StopAgreement(World& world, const StopRequest& requests) : world_(world), requests_(requests) {}

    /// Marks the start of the work.
    void begin();
    /// Called at each border by all ranks together. @returns whether to leave the work
    bool leave();
    /// Returns the bytes that agreements have sent since begin(); their number depends on the clock.
    double bytes_sent() const { return bytes_sent_; }

private:
    void count_from_here();

    World& world_;
    const StopRequest& requests_;
    double bytes_sent_ = 0;
    double since_ = 0;                      ///< time of begin() or of the last agreement
    std::int64_t borders_ = 0, every_ = 1;  ///< borders since then; borders between agreements
};

}  // namespace bertpretrain
