#pragma once
// Exclusive locks between processes that would write the same files.

#include <filesystem>
#include <string>

namespace bertpretrain {

/// Locks a file, or a folder that exists. The kernel releases the lock however the process ends. Network file systems without
/// locks are taken for unlocked.
class FileLock {
public:
    enum class Missing { create, leave };

    /// Does not block. @param in_use the message if another process holds the lock
    /// @param missing what is done about a file that is missing: it is created, or nothing is locked
    /// @throws ConfigError with `in_use`  @throws DataError when the file cannot be opened
    FileLock(std::filesystem::path file, const std::string& in_use, Missing missing = Missing::create);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

    /// Whether the path still names what is locked: it was not renamed, replaced or removed.
    bool is_in_place() const;

private:
    std::filesystem::path file_;
    int descriptor_ = -1;
};

/// The right to write a file, for the one process that has it. Locks FILE.partial, from which write_atomically() makes FILE, and
/// removes it at the end if it is still there and empty.
class OutputLock {
public:
    /// Creates FILE.partial. @param in_use the message if another process is writing FILE; empty: one that says so
    /// @throws ConfigError with `in_use`  @throws DataError when it cannot be created
    explicit OutputLock(const std::filesystem::path& file, const std::string& in_use = {});
    OutputLock(const OutputLock&) = delete;
    OutputLock& operator=(const OutputLock&) = delete;
    ~OutputLock();

private:
    std::filesystem::path partial_;
    FileLock lock_;
};

/// A file that is locked as long as this object exists, and that other processes never see without its content.
class LockedFile {
public:
    /// Replaces the file if it is there. @param in_use the message if another process holds it
    /// @throws ConfigError with `in_use`  @throws DataError when it cannot be written
    LockedFile(const std::filesystem::path& file, const std::string& content, const std::string& in_use);

private:
    OutputLock lock_;  ///< goes on after FILE.partial has become FILE
};

}  // namespace bertpretrain
