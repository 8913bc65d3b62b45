#pragma once
// A run's folder, which contains all its files and which only one run may write.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "telemetry/run_paths.h"

namespace bertpretrain {

/// Refuses a folder that belongs to another run's checkpoints, whose files a new run would replace. @throws ConfigError
void require_no_checkpoint(const std::filesystem::path& folder);

/// Why a run must no longer write at its folder's path.
struct LostFolder {
    std::string what;       ///< the predicate of a sentence whose subject is the folder, as in "was deleted"
    bool is_taken = false;  ///< another process has locked it: nothing may be written into it through any path
};

/// Holds the folder for one run by an open descriptor, which still refers to the same folder after a rename. Rank 0 takes the
/// folder; the other ranks check whether they see the same folder, and then hold it too. Copies share the hold, which ends with
/// the last copy. Thread-safe.
class RunFolder {
public:
    enum class Role { takes, joins };

    /// takes: creates the folder, locks it for this process, and gives it an id that copies of it keep (RunPaths::run_id()).
    /// joins: does nothing until has().
    /// @throws ConfigError when the folder is not writable, or another process is training in it
    RunFolder(std::filesystem::path path, Role role = Role::takes);

    /// Paths based on the path that the user gave.
    const RunPaths& paths() const { return paths_; }

    /// Identifies this hold of the folder; empty for ranks that join.
    const std::string& mark() const { return mark_; }

    /// Joins if the folder at the path is the one that was taken, i.e. on a file system that this rank shares.
    /// @param mark of the rank that took the folder @returns whether it joined; true for the rank that took it
    bool has(const std::string& mark);

    /// Returns nullopt while the path refers to the held folder and its lock is held, and for a rank that holds no folder. Takes
    /// two or three file system calls.
    std::optional<LostFolder> lost() const;

    /// @throws CheckpointError when the folder is lost()
    void require() const;

    /// Returns paths through the descriptor, which refer to the held folder even if it is renamed during a write. If no folder is
    /// held, returns paths().
    /// @throws CheckpointError when another process has locked the folder
    RunPaths places() const;
    /// Returns `text` with paths through descriptors replaced by the folder's current path, for people and other processes.
    std::string with_names(const std::string& text) const;

private:
    struct Hold;

    RunPaths paths_;
    std::string mark_;
    std::shared_ptr<Hold> hold_;  ///< null: no folder is held
};

/// Returns the error message for a run that ends because its folder is lost.
std::string message_of(const LostFolder& lost, const RunPaths& paths);

}  // namespace bertpretrain
