#pragma once
// Gathers what all ranks' devices report about themselves, within the messages of a step.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/control_group.h"
#include "telemetry/device_monitor.h"

namespace bertpretrain {

/// Once a minute rank 0 asks for readings (due()). All ranks learn that when they agree on the next step, and then each adds its
/// numbers to the message with which that step's losses are summed. So no rank waits, and no message is sent, for the readings.
class RankDevices {
public:
    static constexpr double seconds_between_records = 60;

    /// All ranks call it together, to exchange the names of hosts and devices.
    /// @param gpu, cores, reads_host as for DeviceMonitor
    RankDevices(ControlGroup& ranks, std::optional<std::int64_t> gpu, double cores, bool reads_host);

    /// Returns true on rank 0 once a minute, at first at once; false on other ranks.
    bool due();

    /// Starts a reading if one is due. Call it before each step.
    void look() { monitor_.look(); }

    /// Returns this rank's numbers, as many as on every other rank. Never blocks.
    std::vector<double> numbers() const;

    /// @param of_all numbers() of all ranks, one after the other
    DevicesRecord record(std::int64_t step, const std::vector<double>& of_all) const;

private:
    DeviceMonitor monitor_;
    bool asks_;  ///< on rank 0
    double next_ = 0;
    std::vector<RankReading> names_;  ///< by rank, without readings
};

}  // namespace bertpretrain
