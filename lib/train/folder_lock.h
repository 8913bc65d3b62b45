#pragma once
// That only one process trains in a run's folder.

#include <mutex>
#include <string>

#include "core/held_folder.h"

namespace bertpretrain {

/// Locks a folder and its file .lock, until it is destroyed. The folder's own lock holds where the file is removed by hand; the
/// file's lock holds on network file systems that cannot lock folders.
class FolderLock {
public:
    /// Waits for a process that is ending: 5 seconds, or as many as BERTPRETRAIN_LOCK_SECONDS says. @param folder must outlive it
    /// @throws ConfigError when another process holds it, or nothing can be written there
    explicit FolderLock(const HeldFolder& folder);
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();

    /// The content of .lock, which differs from that of every other lock.
    const std::string& mark() const { return mark_; }

    /// Makes the file again where it was removed or replaced. @returns whether this process holds it still; false: another does
    bool keep();

private:
    bool write_mark(int file) const;

    const HeldFolder& folder_;
    std::string mark_;
    std::mutex mutex_;  ///< keep() is called by several threads
    int file_ = -1;
};

}  // namespace bertpretrain
