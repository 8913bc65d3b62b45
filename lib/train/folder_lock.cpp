#include "train/folder_lock.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"

namespace bertpretrain {
namespace {

constexpr const char* lock_name = ".lock";

std::string new_mark() {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    return concat(host, " ", ::getpid(), " ", std::chrono::system_clock::now().time_since_epoch().count(), " ",
                  std::chrono::steady_clock::now().time_since_epoch().count(), "\n");
}

enum class Locked { yes, held_by_another, not_supported };

Locked try_lock(int file) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return Locked::yes;
    return errno == EWOULDBLOCK ? Locked::held_by_another : Locked::not_supported;
}

/// A run that was just killed may hold its folder for a moment longer.
Locked lock_soon(int file) {
    for (int attempt = 0;; ++attempt) {
        const Locked locked = try_lock(file);
        if (locked != Locked::held_by_another || attempt == 50) return locked;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

int open_lock_file(int folder) { return ::openat(folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0644); }

}  // namespace

FolderLock::FolderLock(const HeldFolder& folder) : folder_(folder), mark_(new_mark()) {
    const std::string name = folder.path().string();
    const ConfigError in_use(
        concat(name, ": another process is training in this folder; wait for it, or choose another with --output"));
    const Locked whole = lock_soon(folder.descriptor());
    if (whole == Locked::held_by_another) throw in_use;
    file_ = open_lock_file(folder.descriptor());
    if (file_ < 0) throw ConfigError(concat(name, ": cannot make a lock file here; choose another folder with --output"));
    const Locked locked = lock_soon(file_);
    const bool written = locked != Locked::held_by_another && write_mark(file_);
    if (!written) ::close(std::exchange(file_, -1));
    if (locked == Locked::held_by_another) throw in_use;
    if (!written) throw ConfigError(concat(name, ": cannot write here; is the disk full?"));
    if (whole == Locked::not_supported && locked == Locked::not_supported)
        log_warning(concat(name, ": this file system cannot lock folders or files; make sure that no other run has the same ",
                           "--output"));
}

FolderLock::~FolderLock() {
    ::flock(folder_.descriptor(), LOCK_UN);
    ::close(file_);
}

bool FolderLock::write_mark(int file) const {
    return ::ftruncate(file, 0) == 0 && ::pwrite(file, mark_.data(), mark_.size(), 0) == static_cast<ssize_t>(mark_.size()) &&
           (::fsync(file) == 0 || errno == EINVAL);  // other hosts read it at once
}

bool FolderLock::keep() {
    const std::lock_guard one_at_a_time(mutex_);
    struct stat held {
    }, there{};
    const bool is_there = ::fstatat(folder_.descriptor(), lock_name, &there, 0) == 0;
    if (!is_there && errno != ENOENT) return true;  // the file system does not answer
    if (::fstat(file_, &held) != 0 || (is_there && held.st_ino == there.st_ino)) return true;
    const int file = open_lock_file(folder_.descriptor());
    if (file < 0) return true;  // a folder that was deleted, or cannot be written now: whatever writes there finds out
    if (try_lock(file) == Locked::held_by_another) {
        ::close(file);
        return false;
    }
    write_mark(file);
    ::close(std::exchange(file_, file));
    return true;
}

}  // namespace bertpretrain
