#include "operations/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <c10/core/CachingDeviceAllocator.h>

#include "core/threads/cgroup.h"
#include "core/torch_versions.h"
#include "operations/cuda_runtime.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

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
    return std::min(kernel_says("MemTotal:", root), cgroup_memory(root).limit);
}

std::uint64_t available_host_memory(const fs::path& root) {
    return std::min(kernel_says("MemAvailable:", root), cgroup_memory(root).left);
}

std::uint64_t available_memory(at::Device device) {
    if (device.is_cpu()) return available_host_memory();
    const std::optional<std::size_t> bytes = free_bytes_of(*c10::getDeviceAllocator(device.type()), device.index());
    return bytes ? *bytes : free_gpu_memory();
}

}  // namespace bertpretrain
