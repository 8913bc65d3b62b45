#pragma once
// Runs a user's command on each complete checkpoint, for example to copy it elsewhere.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <sys/types.h>

namespace bertpretrain {

/// Starts commands without waiting for them. At most two run at a time; one more waits, and is dropped when a newer one comes.
/// A command that exceeds its time limit is reported and terminated: SIGTERM to its process group, SIGKILL 10 s later. A command
/// that still runs when this object is destroyed keeps running. Not thread-safe. No member throws; failures are logged.
class AfterSave {
public:
    /// @param command for /bin/sh, with the checkpoint's folder as $1 and BERTPRETRAIN_CHECKPOINT; empty: starts nothing
    /// @param limit_seconds maximum run time of a command
    explicit AfterSave(std::string command, double limit_seconds = 600);

    /// Runs the command on a complete checkpoint, in a session of its own; it inherits standard output and error.
    void start(std::int64_t step, const std::filesystem::path& folder) noexcept;

    /// Logs the commands that have failed since the last call, terminates those over their time limit, and starts a waiting one.
    /// @returns the steps whose checkpoints are in use: their commands run or wait
    std::set<std::int64_t> look() noexcept;

    /// Blocks until no command runs or waits, or until `end`; logs a warning for those left.
    /// @param end when to stop waiting, by seconds_now(); called repeatedly
    void finish(const std::function<double()>& end) noexcept;

    /// Blocks until no command uses a checkpoint of a later step, or until `end`; each command's time limit applies.
    /// @param end as in finish()
    void finish_after(std::int64_t step, const std::function<double()>& end) noexcept;

private:
    enum class Stage { runs, asked_to_end, killed };
    struct Command {
        pid_t process = -1;   ///< leader of its process group
        double deadline = 0;  ///< of its stage, by seconds_now()
        Stage stage = Stage::runs;
    };
    void spawn(std::int64_t step, const std::filesystem::path& folder);
    bool has_ended(std::int64_t step, Command& command);
    bool give_up(std::int64_t step, Command& command);
    void wait(const std::function<double()>& end, const std::function<bool(std::int64_t step)>& concerns);

    std::string command_;
    double limit_seconds_;
    std::map<std::int64_t, Command> running_;  ///< by step
    std::optional<std::pair<std::int64_t, std::filesystem::path>> waiting_;
};

}  // namespace bertpretrain
