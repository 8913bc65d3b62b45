#pragma once
// Queries a GPU through NVML, NVIDIA's management library.

#include <cstdint>
#include <optional>
#include <string>

#include "telemetry/device_reading.h"

namespace bertpretrain {

struct GpuHealth {
    std::string name;
    std::uint64_t memory_bytes = 0, used_bytes = 0;
    unsigned sm_mhz = 0, most_sm_mhz = 0;  ///< current and maximum clock of the multiprocessors
    unsigned celsius = 0;
    unsigned busy_percent = 0;                        ///< share of the last sample period in which a kernel ran
    std::optional<std::uint64_t> uncorrected_errors;  ///< ECC errors since the driver was loaded; nullopt without ECC

    std::string text() const;
};

/// Returns nullopt if NVML is not available (it is part of the driver and loaded at run time) or has no such device.
/// @param index among the devices visible to this process: CUDA_VISIBLE_DEVICES is honored if it lists numbers or UUIDs
std::optional<GpuHealth> gpu_health(std::int64_t index);

/// The subset that is queried during a run. nullopt as for gpu_health().
struct GpuUsage {
    unsigned busy_percent = 0;
    std::uint64_t used_bytes = 0;
};
std::optional<GpuUsage> gpu_usage(std::int64_t index);

/// Returns what NVML shows of a GPU; the rest stays unread, and everything without NVML or such a device. Takes some
/// milliseconds.
DeviceReading read_gpu(std::int64_t index);

}  // namespace bertpretrain
