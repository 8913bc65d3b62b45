#pragma once
// A run's folder: where everything of one run lies, and that only one run writes there.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "telemetry/run_paths.h"

namespace bertpretrain {

/// Why a run must not write at its folder's path any more.
struct LostFolder {
    std::string what;       ///< what happened, as the end of a sentence that begins with the folder
    bool is_taken = false;  ///< another process has locked it: nothing may be written into it by any path
};

/// Holds the folder for one run, by descriptor: it stays the same folder when it is renamed. Rank 0 takes it; the other ranks
/// check whether they see the same folder, and hold it then. Copies share the hold, which ends with the last. Thread-safe.
class RunFolder {
public:
    enum class Role { takes, joins };

    /// takes: makes the folder and locks it for this process. joins: nothing yet.
    /// @throws ConfigError when nothing can be written there, or another process trains there now
    RunFolder(std::filesystem::path path, Role role = Role::takes);

    /// By the path that the user gave.
    const RunPaths& paths() const { return paths_; }

    /// Identifies this hold of this folder; empty for those who join.
    const std::string& mark() const { return mark_; }

    /// Joins where the folder here is the one that was taken: on a file system that this rank sees as well.
    /// @param mark of the rank that took the folder @returns whether it is; true for the rank that took it
    bool has(const std::string& mark);

    /// Nothing while the path leads to the held folder and its lock is held, and for a rank that holds none. Two or three calls
    /// of the file system.
    std::optional<LostFolder> lost() const;

    /// @throws CheckpointError when it is lost()
    void require() const;

    /// Paths through the descriptor, which lead into the held folder also when it is renamed while something is being written; by
    /// the path that the user gave where no folder is held.
    /// @throws CheckpointError when another process has locked it
    RunPaths places() const;
    /// `text` with those paths as people and other processes can use them.
    std::string with_names(const std::string& text) const;

private:
    struct Hold;

    RunPaths paths_;
    std::string mark_;
    std::shared_ptr<Hold> hold_;  ///< null: none
};

/// What a run says that ends because its folder is lost.
std::string message_of(const LostFolder& lost, const RunPaths& paths);

}  // namespace bertpretrain
