#pragma once
// How busy the device is that a run computes on, and how much of its memory is taken.

#include <cstdint>
#include <optional>

namespace bertpretrain {

struct DeviceUsage {
    double utilization = 0;   ///< CPU: processor time of this process since the sample before, as a share of its cores'; threads
                              ///< that wait by spinning count. GPU: share of its last sample period in which a kernel ran.
    double memory_bytes = 0;  ///< CPU: resident memory of this process. GPU: what is taken of its memory, by anybody
};

/// Samples one device. A GPU's numbers are NVIDIA's library's, asked once a second at most; 0 where it is absent.
class DeviceUsageMeter {
public:
    /// @param gpu index among the GPUs that this process sees; none: the CPU
    /// @param cores of this process: those of the host by the number of its ranks
    DeviceUsageMeter(std::optional<std::int64_t> gpu, double cores);

    DeviceUsage sample();

private:
    DeviceUsage sample_cpu(double now);

    std::optional<std::int64_t> gpu_;
    double cores_;
    double sampled_;            ///< when, by seconds_now()
    double processor_seconds_;  ///< used until then
    DeviceUsage last_;
};

}  // namespace bertpretrain
