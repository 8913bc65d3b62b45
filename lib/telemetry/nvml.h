#pragma once
// What NVIDIA's management library says of a GPU.

#include <cstdint>
#include <optional>
#include <string>

namespace bertpretrain {

struct GpuHealth {
    std::string name;
    std::uint64_t memory_bytes = 0, used_bytes = 0;
    unsigned sm_mhz = 0, most_sm_mhz = 0;  ///< clock of the multiprocessors now, and at most
    unsigned celsius = 0;
    unsigned busy_percent = 0;                        ///< share of the last sample period in which a kernel ran
    std::optional<std::uint64_t> uncorrected_errors;  ///< of ECC memory since the driver was loaded; none where it has no ECC

    std::string text() const;
};

/// Nothing where the library is absent (it belongs to the driver, and is opened at run time) or knows no such device.
/// @param index of the device among those that this process sees: CUDA_VISIBLE_DEVICES is followed where it lists numbers or
///        UUIDs
std::optional<GpuHealth> gpu_health(std::int64_t index);

/// The part of it that is asked for during a run.
struct GpuUsage {
    unsigned busy_percent = 0;
    std::uint64_t used_bytes = 0;
};
std::optional<GpuUsage> gpu_usage(std::int64_t index);

}  // namespace bertpretrain
