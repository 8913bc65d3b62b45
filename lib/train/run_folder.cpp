#include "train/run_folder.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace bertpretrain {
namespace {

std::string new_mark() {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    return concat(host, " ", ::getpid(), " ", std::chrono::system_clock::now().time_since_epoch().count(), "\n");
}

/// A run that was just killed may hold its folder for a moment longer. @returns whether no other process holds it
bool lock_soon(int file) {
    for (int attempt = 0; attempt < 50; ++attempt) {
        if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK) {
            log_warning(concat("the run's folder cannot be locked (", std::strerror(errno),
                               "): see to it that no other run has the same --output"));
            return true;  // some network disks know no locks
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path, Role role) : paths_(std::move(path)) {
    if (role == Role::joins) return;
    const std::string folder = paths_.folder().string();
    make_writable_folder(paths_.folder());
    lock_ = ::open(paths_.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0) throw ConfigError(concat(folder, ": cannot make a lock file here; choose another folder with --output"));
    if (!lock_soon(lock_)) {
        ::close(lock_);
        throw ConfigError(
            concat(folder, ": another process is training in this folder; wait for it, or choose another with --output"));
    }
    mark_ = new_mark();
    const bool written = ::ftruncate(lock_, 0) == 0 &&
                         ::pwrite(lock_, mark_.data(), mark_.size(), 0) == static_cast<ssize_t>(mark_.size()) &&
                         (::fsync(lock_) == 0 || errno == EINVAL);  // other hosts look for it at once
    if (!written) {
        ::close(lock_);
        throw ConfigError(concat(folder, ": cannot write here; is the disk full?"));
    }
}

RunFolder::~RunFolder() {
    if (lock_ >= 0) ::close(lock_);
}

bool RunFolder::has(const std::string& mark) const {
    if (lock_ >= 0) return true;
    try {
        return read_file(paths_.lock()) == mark;
    } catch (const DataError&) { return false; }  // not there
}

}  // namespace bertpretrain
