#pragma once
// An exclusive lock between processes that would write the same files.

#include <filesystem>
#include <string>

namespace bertpretrain {

/// Locks a file, which is created if it is missing. The kernel releases the lock however the process ends. Network file systems
/// without locks are taken for unlocked.
class FileLock {
public:
    /// Does not block. @param in_use the message if another process holds the lock
    /// @throws ConfigError with `in_use`  @throws DataError when the file cannot be opened
    FileLock(const std::filesystem::path& file, const std::string& in_use);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

private:
    int descriptor_;
};

}  // namespace bertpretrain
