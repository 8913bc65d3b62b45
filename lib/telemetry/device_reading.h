#pragma once
// What a rank's device and its host report about themselves.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace bertpretrain {

/// One reading. A number that cannot be read is NaN here, and absent from files and metrics. Counters only grow; what they count
/// from is in their description. Of the CPU's numbers, all but `utilization` and `memory_bytes` are the host's or the
/// container's: only the first rank of each host reads them.
struct DeviceReading {
    static constexpr double unread = std::numeric_limits<double>::quiet_NaN();

    double utilization = unread, memory_bytes = unread, memory_total_bytes = unread;
    double cgroup_memory_bytes = unread, cgroup_memory_limit_bytes = unread;
    double clock_hertz = unread, clock_max_hertz = unread, memory_clock_hertz = unread;
    double temperature_celsius = unread, power_watts = unread, energy_joules = unread;
    double throttled_power_cap = unread, throttled_thermal = unread, throttled_power_brake = unread, throttled_hardware = unread;
    double cgroup_throttled_seconds = unread, thermal_throttle_events = unread;
    double ecc_corrected_errors = unread, ecc_uncorrected_errors = unread;
    double nvlink_replay_errors = unread, nvlink_recovery_errors = unread, nvlink_crc_errors = unread, pcie_replays = unread;

    /// Calls field(key of devices.jsonl, member, description) for each number.
    static void fields(auto&& self, auto&& field) {
        field("utilization", self.utilization, "Share of the time that the device was busy, 0 to 1.");
        field("memory_bytes", self.memory_bytes, "Memory in use: of a GPU by all processes, on a CPU by this rank.");
        field("memory_total_bytes", self.memory_total_bytes, "Memory of the GPU, or of the host.");
        field("cgroup_memory_bytes", self.cgroup_memory_bytes, "Memory in use by the rank's control group (container).");
        field("cgroup_memory_limit_bytes", self.cgroup_memory_limit_bytes, "Memory limit of that control group and its parents.");
        field("clock_hertz", self.clock_hertz, "Clock of a GPU's multiprocessors; mean clock of the host's cores.");
        field("clock_max_hertz", self.clock_max_hertz, "Highest clock that the device supports.");
        field("memory_clock_hertz", self.memory_clock_hertz, "Clock of a GPU's memory.");
        field("temperature_celsius", self.temperature_celsius, "Temperature of a GPU; of the host's hottest CPU sensor.");
        field("power_watts", self.power_watts, "Power of a GPU; of the host's CPU packages since the reading before (RAPL).");
        field("energy_joules", self.energy_joules, "Energy of a GPU since its driver was loaded; of CPUs since the run's start.");
        field("throttled_power_cap", self.throttled_power_cap, "1 while a GPU's clock is lowered to keep its power limit.");
        field("throttled_thermal", self.throttled_thermal, "1 while a GPU's clock is lowered because it is too hot.");
        field("throttled_power_brake", self.throttled_power_brake, "1 while the power supply makes a GPU lower its clock.");
        field("throttled_hardware", self.throttled_hardware, "1 while hardware lowers a GPU's clock to half or less.");
        field("cgroup_throttled_seconds", self.cgroup_throttled_seconds,
              "How long a CPU quota has stopped the control group, since it was made.");
        field("thermal_throttle_events", self.thermal_throttle_events,
              "How often heat lowered a core's clock since the host's boot, summed over logical CPUs.");
        field("ecc_corrected_errors", self.ecc_corrected_errors,
              "Memory errors that ECC corrected: of a GPU since its driver was loaded, of a host since its boot (EDAC).");
        field("ecc_uncorrected_errors", self.ecc_uncorrected_errors,
              "Memory errors that ECC could not correct, counted likewise.");
        field("nvlink_replay_errors", self.nvlink_replay_errors, "Packets sent again over a GPU's NVLinks.");
        field("nvlink_recovery_errors", self.nvlink_recovery_errors,
              "Times that one of a GPU's NVLinks had to be trained again.");
        field("nvlink_crc_errors", self.nvlink_crc_errors, "Flits and data with a wrong checksum on a GPU's NVLinks.");
        field("pcie_replays", self.pcie_replays, "Packets sent again between a GPU and its host (PCIe).");
    }
};

/// The reading of one rank.
struct RankReading {
    std::int64_t rank = 0;
    std::string host, device;  ///< device: "cpu", or "cuda:3" as in torch
    DeviceReading reading{};
};

/// Readings of all ranks.
struct DevicesRecord {
    std::int64_t step = 0;  ///< completed when they were gathered
    std::vector<RankReading> ranks{};
    double time = 0;             ///< in seconds since 1970 UTC
    double elapsed_seconds = 0;  ///< counted from this start of the run by a monotonic clock
};

}  // namespace bertpretrain
