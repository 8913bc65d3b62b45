#pragma once
// A command of the user's on each complete checkpoint: to copy it elsewhere, for example.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "train/command_lock.h"

#include <sys/types.h>

namespace bertpretrain {

/// Starts commands without waiting for them. At most two run at a time; one more waits for them, and gives way to a newer one.
/// One that runs for too long is reported and ended: SIGTERM to its process group, SIGKILL 10 s later. A command that still runs
/// when this object is destroyed goes on, and the next process of the run takes it over. For one thread; no member throws: what
/// fails is logged.
class AfterSave {
public:
    /// @param command for /bin/sh, which gets the checkpoint's folder as $1 and as BERTPRETRAIN_CHECKPOINT; empty: nothing is
    ///        started
    /// @param limit_seconds how long a command may run
    explicit AfterSave(std::string command, double limit_seconds = 600);

    /// Finds the commands of an earlier process of this run: those that still run are treated as our own (only their exit codes
    /// stay unknown), and have the whole limit from now on. Those that have ended meanwhile are reported.
    /// @param checkpoints the run's folder of checkpoints
    void take_over(const std::filesystem::path& checkpoints) noexcept;

    /// Runs it on a complete checkpoint, in a session of its own; its output goes where ours goes.
    void start(std::int64_t step, const std::filesystem::path& folder) noexcept;

    /// Logs the commands that have failed since it was last called, ends those that have run for too long, and starts one that
    /// waits. @returns the steps whose checkpoints are in use: their commands run or wait
    std::set<std::int64_t> look() noexcept;

    /// Waits until no command runs or waits; what is left at the end is named in a warning.
    /// @param end when to stop waiting, by seconds_now(); asked again and again
    void finish(const std::function<double()>& end) noexcept;

    /// Waits until no command uses a checkpoint of a later step; each has its limit.
    void finish_after(std::int64_t step) noexcept;

private:
    enum class Stage { runs, asked_to_end, killed };
    struct Command {
        pid_t process = -1;    ///< leader of its process group; of an earlier process's command: nothing of ours
        CommandLock lock;      ///< of a command that was taken over: open, to see when it ends
        double deadline = 0;   ///< of its stage, by seconds_now()
        double next_look = 0;  ///< for those taken over: each look may ask a file server
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
