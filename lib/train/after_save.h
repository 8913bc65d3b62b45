#pragma once
// A command of the user's on each complete checkpoint: to copy it elsewhere, say.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <sys/types.h>

namespace bertpretrain {

/// Starts commands and never waits for them: one that still runs when this is destroyed goes on by itself.
class AfterSave {
public:
    /// @param command for /bin/sh, which gets the checkpoint's folder as $1 and as BERTPRETRAIN_CHECKPOINT; empty: nothing is
    /// done
    explicit AfterSave(std::string command) : command_(std::move(command)) {}

    /// Runs it on a complete checkpoint, in a session of its own; its output goes where ours goes. Never throws: what fails is
    /// logged.
    void start(std::int64_t step, const std::filesystem::path& folder) noexcept;

    /// Logs the commands that have failed since it was last called. @returns the steps whose commands still run
    std::set<std::int64_t> look() noexcept;

private:
    std::string command_;
    std::map<std::int64_t, pid_t> running_;  ///< by step
};

}  // namespace bertpretrain
