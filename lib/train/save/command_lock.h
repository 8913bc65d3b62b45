#pragma once
// Detects whether a command that another process has started is still running.

#include <cstdint>
#include <filesystem>
#include <map>

#include <sys/types.h>

namespace bertpretrain {

/// A file next to the checkpoints, locked by the command's processes. They inherit the open file, and the kernel releases the
/// lock when the last of them has ended, even if the process that started them has ended before. Where the file cannot be created
/// or locked, the command runs without a lock.
class CommandLock {
public:
    /// The descriptor of the file in the command: high, so that shell scripts do not use it for themselves.
    static constexpr int inherited = 63;

    CommandLock() = default;
    CommandLock(CommandLock&& other) noexcept;
    CommandLock& operator=(CommandLock&& other) noexcept;
    ~CommandLock();

    /// Creates and locks the file for the command on a checkpoint. @param checkpoint the folder checkpoints/step_N
    static CommandLock make(std::int64_t step, const std::filesystem::path& checkpoint);
    /// Opens the lock files that earlier processes have left. @returns them by step
    static std::map<std::int64_t, CommandLock> left_in(const std::filesystem::path& checkpoints);

    int descriptor() const { return descriptor_; }  ///< -1: none
    /// Hands the lock over to the command and closes it here. @param process leader of the command's process group
    void give_to(pid_t process);
    /// Whether a process of the command is still running. Only for locks from left_in().
    bool is_held() const;
    /// Returns the leader of the command's process group if it runs on this host and has the file open; else -1.
    pid_t holder() const;
    void remove_file();

private:
    void close();

    std::filesystem::path file_;
    int descriptor_ = -1;
};

}  // namespace bertpretrain
