#pragma once
// Samples the utilization and memory use of the device that a run computes on.

#include <cstdint>
#include <optional>

namespace bertpretrain {

struct DeviceUsage {
    double utilization = 0;   ///< 0 to 1. CPU: processor time of this process since the previous sample, divided by that of its
                              ///< cores; includes spinning. GPU: share of its last sample period in which a kernel ran.
    double memory_bytes = 0;  ///< CPU: resident memory of this process. GPU: memory in use, by all processes.
};

/// Samples one device. A GPU's numbers come from NVML, queried at most once per second, and are 0 if NVML is not available.
class DeviceUsageMeter {
public:
    /// @param gpu index among the GPUs visible to this process; nullopt: the CPU
    /// @param cores this process's share: the host's cores divided by its number of ranks
    DeviceUsageMeter(std::optional<std::int64_t> gpu, double cores);

    DeviceUsage sample();

private:
    DeviceUsage sample_cpu(double now);

    std::optional<std::int64_t> gpu_;
    double cores_;
    double sampled_;            ///< time of the last sample, by seconds_now()
    double processor_seconds_;  ///< processor time used until then
    DeviceUsage last_;
};

}  // namespace bertpretrain
