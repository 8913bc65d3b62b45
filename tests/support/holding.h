#pragma once
// Memory, files and threads of a process.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include <sys/types.h>

#include "support/files.h"

namespace bertpretrain::testing {

/// The resources of a process.
struct Holding {
    double mib = 0;         ///< resident
    double shared_mib = 0;  ///< with each page divided by the number of processes that have it; set by add_shared()
    std::int64_t files = 0, threads = 0;
};

/// Returns the maximum of each resource.
inline Holding larger(const Holding& a, const Holding& b) {
    return {std::max(a.mib, b.mib), std::max(a.shared_mib, b.shared_mib), std::max(a.files, b.files),
            std::max(a.threads, b.threads)};
}

/// Returns nothing if the process has ended.
inline std::optional<Holding> holding_of(pid_t process) {
    const std::filesystem::path folder = "/proc/" + std::to_string(process);
    Holding holding;
    std::istringstream lines(read_text(folder / "status"));
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("VmRSS:", 0) == 0) holding.mib = std::stod(line.substr(6)) / 1024;
        if (line.rfind("Threads:", 0) == 0) holding.threads = std::stoll(line.substr(8));
    }
    std::error_code gone;
    for (std::filesystem::directory_iterator file(folder / "fd", gone), end; !gone && file != end; file.increment(gone))
        ++holding.files;
    return holding.mib > 0 && holding.files > 0 ? std::optional(holding) : std::nullopt;
}

/// Adds the proportional set size, which takes the kernel milliseconds to compute.
inline void add_shared(pid_t process, Holding& holding) {
    std::istringstream lines(read_text("/proc/" + std::to_string(process) + "/smaps_rollup"));
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("Pss:", 0) == 0) holding.shared_mib = std::stod(line.substr(4)) / 1024;
}

}  // namespace bertpretrain::testing
