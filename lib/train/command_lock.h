#pragma once
// Whether a command that another process has started still runs.

#include <cstdint>
#include <filesystem>
#include <map>

#include <sys/types.h>

namespace bertpretrain {

/// A file beside the checkpoints, locked by the command's processes: they inherit the open file, and the kernel releases the lock
/// when the last of them has ended, even where the process that started them has ended before. Where the file cannot be made or
/// locked there is no lock, and nothing else changes.
class CommandLock {
public:
    /// The number by which the command has the file open: high, so that no shell script uses it for itself.
    static constexpr int inherited = 63;

    CommandLock() = default;
    CommandLock(CommandLock&& other) noexcept;
    CommandLock& operator=(CommandLock&& other) noexcept;
    ~CommandLock();

    /// Makes and locks the file for the command on checkpoints/step_N, whose folder is given.
    static CommandLock make(std::int64_t step, const std::filesystem::path& checkpoint);
    /// The locks that earlier processes have left, by step, open.
    static std::map<std::int64_t, CommandLock> left_in(const std::filesystem::path& checkpoints);

    int descriptor() const { return descriptor_; }  ///< -1: none
    /// Hands the lock over: from now on only the command holds it. @param process leader of the command's process group
    void give_to(pid_t process);
    /// Whether a process of the command runs; for a lock of left_in().
    bool is_held() const;
    /// The leader of the command's process group, where it runs on this host and has the file open; else -1.
    pid_t holder() const;
    void remove_file();

private:
    void close();

    std::filesystem::path file_;
    int descriptor_ = -1;
};

}  // namespace bertpretrain
