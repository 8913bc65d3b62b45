#pragma once
// Reads a rank's device and host in the background.

#include <cstdint>
#include <memory>
#include <optional>

#include "core/threads/detached_worker.h"
#include "telemetry/device_reading.h"

namespace bertpretrain {

/// Reads on a thread of its own, so that a driver that hangs or a slow file delays no step.
class DeviceMonitor {
public:
    static constexpr double seconds_between_readings = 10;

    /// Makes the first reading, so that the first step has one; waits for it for two seconds at most.
    /// @param gpu index among the GPUs visible to this process; nullopt: the CPU
    /// @param cores this process's share of the host's (see DeviceUsageMeter)
    /// @param reads_host whether to read the host's sensors too: on one rank of each host
    DeviceMonitor(std::optional<std::int64_t> gpu, double cores, bool reads_host);

    /// Starts another reading if the last one began ten seconds ago. Never blocks.
    void look();

    /// Returns the last finished reading; an empty one before the first, and while a reading hangs for a minute. Never blocks.
    DeviceReading latest() const;

private:
    struct State;
    std::shared_ptr<State> state_;  ///< shared with a reading that hangs
    double next_ = 0;
    DetachedWorker thread_;
};

}  // namespace bertpretrain
