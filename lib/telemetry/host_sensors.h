#pragma once
// Reads the host's and the container's sensors from Linux' /proc and /sys.

#include <filesystem>
#include <map>
#include <string>

#include "telemetry/device_reading.h"

namespace bertpretrain {

/// Reads a host's clocks, temperature, energy, throttling and memory errors, and what its control groups count. What the kernel
/// does not show, or not to this user (RAPL often is root's), stays unread. Not thread-safe.
class HostSensors {
public:
    /// @param root folder that contains /proc and /sys
    explicit HostSensors(std::filesystem::path root = "/") : root_(std::move(root)) {}

    /// Fills in the members that this host shows, but for those of the control group.
    /// @param now in seconds by a monotonic clock
    void read(DeviceReading& reading, double now);
    /// Fills in the cgroup_ members.
    void read_group(DeviceReading& reading) const;

private:
    void read_energy(DeviceReading& reading, double now);

    std::filesystem::path root_;
    std::map<std::string, double> energy_before_;  ///< by RAPL zone, in microjoules
    double joules_ = 0;                            ///< since the first reading
    double joules_before_ = 0, read_before_ = 0;
};

}  // namespace bertpretrain
