#pragma once
// Ensures that only one process trains in a run's folder.

#include <mutex>
#include <string>

#include "core/files/held_folder.h"

namespace bertpretrain {

/// Locks a folder and its file .lock until destroyed. The lock on the folder still works if the file is deleted by hand; the lock
/// on the file works on network file systems that cannot lock folders.
class FolderLock {
public:
    /// Blocks while another process holds the lock, for at most 5 seconds or BERTPRETRAIN_LOCK_SECONDS: it may be about to end.
    /// @param folder must outlive this object
    /// @throws ConfigError when another process still holds the lock, or the folder is not writable
    explicit FolderLock(const HeldFolder& folder);
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();

    /// The content of .lock, unique to this lock.
    const std::string& mark() const { return mark_; }

    /// Recreates .lock if it was removed or replaced. @returns false if another process holds the new one; thread-safe
    bool keep();

private:
    bool write_mark(int file) const;

    const HeldFolder& folder_;
    std::string mark_;
    std::mutex mutex_;  ///< several threads call keep()
    int file_ = -1;
};

}  // namespace bertpretrain
