#include "core/threads/cgroup.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// Reads "QUOTA PERIOD" and returns the quotient; nullopt when a number is missing or the quota is unlimited ("max" or -1).
std::optional<double> quotient(std::istream& in) {
    double quota = 0, period = 0;
    if (in >> quota >> period && quota > 0 && period > 0) return quota / period;
    return std::nullopt;
}

std::optional<double> limit_of_folder(const fs::path& folder, bool is_version_2) {
    if (is_version_2) {
        std::ifstream both(folder / "cpu.max");
        return quotient(both);
    }
    std::stringstream both;
    for (const char* name : {"cpu.cfs_quota_us", "cpu.cfs_period_us"}) {
        std::string number;
        std::ifstream(folder / name) >> number;
        both << number << ' ';
    }
    return quotient(both);
}

/// Calls visit(folder) from a group up to the mounted root. A container often sees its own group mounted as the root, while /proc
/// still shows the group's path on the host, so some folders do not exist.
void for_each_parent(const fs::path& mount, const std::string& group, const std::function<void(const fs::path&)>& visit) {
    for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
        visit(mount / path);
        if (path.empty()) return;
    }
}

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// Returns the number in a group's file; `unlimited` where it contains "max" or does not exist.
std::uint64_t number_in(const fs::path& file) {
    std::uint64_t number = 0;
    return std::ifstream(file) >> number ? number : unlimited;
}

/// Returns the bytes of a group's page cache that the kernel drops when memory is needed; 0 where it does not say.
std::uint64_t droppable_bytes(const fs::path& statistics, const char* wanted) {
    std::ifstream lines(statistics);
    std::uint64_t bytes = 0;
    for (std::string name; lines >> name >> bytes;)
        if (name == wanted) return bytes;
    return 0;
}

bool names(const std::string& controllers, const std::string& controller) {
    std::istringstream in(controllers);
    for (std::string name; std::getline(in, name, ',');)
        if (name == controller) return true;
    return false;
}

/// Calls visit(mount, group, is_version_2) for each of this process's groups that a controller may belong to.
void for_each_group(const std::string& controller, const fs::path& root,
                    const std::function<void(const fs::path&, const std::string&, bool)>& visit) {
    const fs::path mounts = root / "sys/fs/cgroup";
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // "0::/a/b" or "4:cpu,cpuacct:/a/b"
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
        const bool is_version_2 = controllers.empty();
        if (!is_version_2 && !names(controllers, controller)) continue;
        visit(is_version_2 ? mounts : mounts / controller, group, is_version_2);
    }
}

}  // namespace

std::optional<double> cgroup_core_limit(const fs::path& root) {
    std::optional<double> tightest;
    for_each_group("cpu", root, [&](const fs::path& mount, const std::string& group, bool is_version_2) {
        for_each_parent(mount, group, [&](const fs::path& folder) {
            const std::optional<double> limit = limit_of_folder(folder, is_version_2);
            if (limit) tightest = std::min(*limit, tightest.value_or(*limit));
        });
    });
    return tightest;
}

CgroupMemory cgroup_memory(const fs::path& root) {
    CgroupMemory memory{unlimited, unlimited};
    for_each_group("memory", root, [&](const fs::path& mount, const std::string& group, bool is_version_2) {
        for_each_parent(mount, group, [&](const fs::path& folder) {
            const std::uint64_t limit = number_in(folder / (is_version_2 ? "memory.max" : "memory.limit_in_bytes"));
            const std::uint64_t used = number_in(folder / (is_version_2 ? "memory.current" : "memory.usage_in_bytes"));
            memory.limit = std::min(memory.limit, limit);
            if (limit == unlimited || used == unlimited) return;
            const std::uint64_t cache =
                droppable_bytes(folder / "memory.stat", is_version_2 ? "inactive_file" : "total_inactive_file");
            memory.left = std::min(memory.left, limit - std::min(limit, used - std::min(used, cache)));
        });
    });
    return memory;
}

std::optional<CgroupFolder> cgroup_folder(const std::string& controller, const fs::path& root) {
    std::optional<CgroupFolder> found;
    for_each_group(controller, root, [&](const fs::path& mount, const std::string& group, bool is_version_2) {
        if (found && !found->is_version_2) return;  // where both versions are mounted, the controller belongs to version 1
        fs::path path = fs::path(group).relative_path();
        std::error_code ignored;
        while (!path.empty() && !fs::is_directory(mount / path, ignored)) path = path.parent_path();
        if (fs::is_directory(mount / path, ignored)) found = CgroupFolder{mount / path, is_version_2};
    });
    return found;
}

}  // namespace bertpretrain
