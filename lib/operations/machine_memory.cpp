#include "operations/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <c10/core/CachingDeviceAllocator.h>

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// Returns the number in a control group's file; `unlimited` where it contains "max" or does not exist.
std::uint64_t number_in(const fs::path& file) {
    std::uint64_t number = 0;
    return std::ifstream(file) >> number ? number : unlimited;
}

std::uint64_t left_by(const fs::path& limit, const fs::path& usage) {
    const std::uint64_t most = number_in(limit), used = number_in(usage);
    if (most == unlimited || used == unlimited) return unlimited;
    return most - std::min(most, used);
}

/// Returns the value of a line of /proc/meminfo in bytes; `unlimited` where it is missing.
std::uint64_t kernel_says(const std::string& wanted, const fs::path& root) {
    std::ifstream meminfo(root / "proc/meminfo");
    std::uint64_t kibibytes = 0;
    for (std::string name, unit; meminfo >> name >> kibibytes && std::getline(meminfo, unit);)
        if (name == wanted) return kibibytes * 1024;
    return unlimited;
}

}  // namespace

std::uint64_t host_memory_limit(const fs::path& root) {
    const fs::path groups = root / "sys/fs/cgroup";
    return std::min(
        {kernel_says("MemTotal:", root), number_in(groups / "memory.max"), number_in(groups / "memory/memory.limit_in_bytes")});
}

std::uint64_t available_host_memory(const fs::path& root) {
    const fs::path groups = root / "sys/fs/cgroup";
    const std::uint64_t available =
        std::min(kernel_says("MemAvailable:", root), left_by(groups / "memory.max", groups / "memory.current"));
    return std::min(available, left_by(groups / "memory/memory.limit_in_bytes", groups / "memory/memory.usage_in_bytes"));
}

std::uint64_t available_memory(at::Device device) {
    if (device.is_cpu()) return available_host_memory();
    return c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index()).first;
}

}  // namespace bertpretrain
