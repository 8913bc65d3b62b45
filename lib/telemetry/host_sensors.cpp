#include "telemetry/host_sensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>

#include "core/threads/cgroup.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file) {
    double number = 0;
    return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;
}

std::string word_in(const fs::path& file) {
    std::string word;
    std::ifstream(file) >> word;
    return word;
}

/// Returns the entries of a folder whose names begin with `prefix`; none if it does not exist.
std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
    std::vector<fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
    return found;
}

/// The numbers that some files contain.
struct FileNumbers {
    std::size_t count = 0;
    double sum = 0, largest = -INFINITY;

    void add(std::optional<double> number) {
        if (!number) return;
        ++count;
        sum += *number;
        largest = std::max(largest, *number);
    }
    /// @returns DeviceReading::unread if no file had a number
    double sum_or_unread() const { return count > 0 ? sum : DeviceReading::unread; }
    double mean_or_unread() const { return count > 0 ? sum / static_cast<double>(count) : DeviceReading::unread; }
    double largest_or_unread() const { return count > 0 ? largest : DeviceReading::unread; }
};

/// Reads PREFIX*/name of a folder.
FileNumbers numbers_of(const fs::path& folder, std::string_view prefix, const char* name) {
    FileNumbers numbers;
    for (const fs::path& entry : entries(folder, prefix)) numbers.add(number_in(entry / name));
    return numbers;
}

/// Calls visit(value) for each line "NAME: VALUE" or "NAME VALUE" of a file.
void for_each_value(const fs::path& file, std::string_view name, const std::function<void(double)>& visit) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(name)) continue;
        const std::size_t digits = line.find_first_not_of(": \t", name.size());
        if (digits == std::string::npos || digits == name.size()) continue;
        try {
            visit(std::stod(line.substr(digits)));
        } catch (const std::exception&) {}  // not a number
    }
}

double first_value(const fs::path& file, std::string_view name, double factor) {
    FileNumbers numbers;
    for_each_value(file, name, [&](double value) { numbers.add(value); });
    return factor * numbers.sum_or_unread();
}

void read_clocks(DeviceReading& reading, const fs::path& root) {
    const fs::path cores = root / "sys/devices/system/cpu";
    FileNumbers clocks = numbers_of(cores, "cpu", "cpufreq/scaling_cur_freq");
    const bool in_kilohertz = clocks.count > 0;
    if (!in_kilohertz) for_each_value(root / "proc/cpuinfo", "cpu MHz", [&](double megahertz) { clocks.add(megahertz); });
    reading.clock_hertz = clocks.mean_or_unread() * (in_kilohertz ? 1e3 : 1e6);
    reading.clock_max_hertz = 1e3 * numbers_of(cores, "cpu", "cpufreq/cpuinfo_max_freq").largest_or_unread();
    reading.thermal_throttle_events = numbers_of(cores, "cpu", "thermal_throttle/core_throttle_count").sum_or_unread();
}

/// Returns the hottest of the CPU's sensors: its hwmon driver's, else its thermal zones'.
double hottest(const fs::path& root) {
    static constexpr std::array<std::string_view, 4> drivers{"coretemp", "k10temp", "zenpower", "cpu_thermal"};
    FileNumbers millidegrees;
    for (const fs::path& sensor : entries(root / "sys/class/hwmon", "hwmon")) {
        if (std::ranges::find(drivers, word_in(sensor / "name")) == drivers.end()) continue;
        for (const fs::path& file : entries(sensor, "temp"))
            if (file.string().ends_with("_input")) millidegrees.add(number_in(file));
    }
    if (millidegrees.count == 0)
        for (const fs::path& zone : entries(root / "sys/class/thermal", "thermal_zone")) {
            const std::string type = word_in(zone / "type");
            if (type == "x86_pkg_temp" || type.starts_with("cpu")) millidegrees.add(number_in(zone / "temp"));
        }
    return millidegrees.largest_or_unread() / 1000;
}

void read_group_memory(DeviceReading& reading, const fs::path& root) {
    const auto group = cgroup_folder("memory", root);
    if (!group) return;
    constexpr double no_limit = 0x1p60;  // version 1 writes the largest number of pages
    const auto of = [&](const char* name_in_2, const char* name_in_1) {
        return number_in(group->folder / (group->is_version_2 ? name_in_2 : name_in_1)).value_or(DeviceReading::unread);
    };
    reading.cgroup_memory_bytes = of("memory.current", "memory.usage_in_bytes");
    const auto limit = static_cast<double>(cgroup_memory(root).limit);
    if (limit < no_limit) reading.cgroup_memory_limit_bytes = limit;
}

void read_quota(DeviceReading& reading, const fs::path& root) {
    const auto group = cgroup_folder("cpu", root);
    if (!group) return;
    const fs::path file = group->folder / "cpu.stat";
    reading.cgroup_throttled_seconds =
        group->is_version_2 ? first_value(file, "throttled_usec", 1e-6) : first_value(file, "throttled_time", 1e-9);
}

}  // namespace

void HostSensors::read(DeviceReading& reading, double now) {
    read_clocks(reading, root_);
    reading.temperature_celsius = hottest(root_);
    read_energy(reading, now);
    reading.memory_total_bytes = first_value(root_ / "proc/meminfo", "MemTotal", 1024);
    const fs::path controllers = root_ / "sys/devices/system/edac/mc";
    reading.ecc_corrected_errors = numbers_of(controllers, "mc", "ce_count").sum_or_unread();
    reading.ecc_uncorrected_errors = numbers_of(controllers, "mc", "ue_count").sum_or_unread();
}

void HostSensors::read_group(DeviceReading& reading) const {
    read_group_memory(reading, root_);
    read_quota(reading, root_);
}

/// Zones "intel-rapl:0", "intel-rapl:1" are packages (AMD's too); "intel-rapl:0:0" is a part of the first. A zone's counter
/// begins again at 0 after max_energy_range_uj.
void HostSensors::read_energy(DeviceReading& reading, double now) {
    bool is_read = false;
    const bool is_first = energy_before_.empty();
    for (const fs::path& zone : entries(root_ / "sys/class/powercap", "intel-rapl:")) {
        const std::string name = zone.filename().string();
        if (std::ranges::count(name, ':') != 1) continue;
        const auto energy = number_in(zone / "energy_uj"), range = number_in(zone / "max_energy_range_uj");
        if (!energy) continue;
        is_read = true;
        const auto [before, is_new] = energy_before_.try_emplace(name, *energy);
        if (!is_new) joules_ += 1e-6 * (*energy - before->second + (*energy < before->second ? range.value_or(0) : 0));
        before->second = *energy;
    }
    if (!is_read) return;
    reading.energy_joules = joules_;
    if (!is_first && now > read_before_) reading.power_watts = (joules_ - joules_before_) / (now - read_before_);
    joules_before_ = joules_;
    read_before_ = now;
}

}  // namespace bertpretrain
