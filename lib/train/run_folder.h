#pragma once
// A run's folder: where everything of one run lies, and that only one run writes there.

#include <filesystem>
#include <string>

#include "telemetry/run_paths.h"

namespace bertpretrain {

/// Holds the folder for one run. Rank 0 takes it; the others look whether they see the same folder.
class RunFolder {
public:
    enum class Role { takes, joins };

    /// takes: makes the folder and holds it for this process until destroyed. joins: nothing yet.
    /// @throws ConfigError when one cannot write there, or another process trains there now
    RunFolder(std::filesystem::path path, Role role = Role::takes);
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    ~RunFolder();

    const RunPaths& paths() const { return paths_; }

    /// What tells this holding of this folder from any other; empty for those who join.
    const std::string& mark() const { return mark_; }
    /// @param mark of the rank that took the folder
    /// @returns whether the folder here is the one that was taken: a file system that this rank has as well
    bool has(const std::string& mark) const;

private:
    RunPaths paths_;
    std::string mark_;
    int lock_ = -1;
};

}  // namespace bertpretrain
