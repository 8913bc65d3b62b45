#include "train/records/folder_lock.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/environment.h"
#include "core/error.h"
#include "core/host_name.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

constexpr const char* lock_name = ".lock";

std::string new_mark() {
    return concat(host_name(), " ", ::getpid(), " ", std::chrono::system_clock::now().time_since_epoch().count(), " ",
                  std::chrono::steady_clock::now().time_since_epoch().count(), "\n");
}

enum class Locked { yes, held_by_another, not_supported };

Locked try_lock(int file) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return Locked::yes;
    return errno == EWOULDBLOCK ? Locked::held_by_another : Locked::not_supported;
}

constexpr const char* in_use = ": another process is training in this folder; ";
constexpr double usual_seconds = 5;
constexpr const char* seconds_variable = "BERTPRETRAIN_LOCK_SECONDS";

/// Returns the seconds to wait for another process to release the folder. @throws ConfigError when the variable is not a number
double seconds_to_wait() {
    const auto text = environment_variable(seconds_variable);
    if (!text) return usual_seconds;
    char* end = nullptr;
    const double seconds = std::strtod(text->c_str(), &end);
    if (end == text->c_str() || *end != '\0' || !(seconds >= 0 && seconds <= 1e6))
        throw ConfigError(concat("environment: ", seconds_variable, " is \"", *text, "\"; expected seconds between 0 and 1e6"));
    return seconds;
}

/// Retries a lock, because a process that was just killed or stopped may hold its folder a little longer. Logs a long wait.
class TimedLock {
public:
    explicit TimedLock(std::string folder) : folder_(std::move(folder)) {}

    Locked lock(int file) {
        for (;;) {
            const Locked locked = try_lock(file);
            if (locked != Locked::held_by_another || seconds_now() >= end_) return locked;
            if (seconds_ > usual_seconds && !std::exchange(announced_, true))
                log_info(concat(folder_, in_use, "waiting up to ", seconds_, " s for it to end (", seconds_variable, ")"));
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }

private:
    std::string folder_;
    double seconds_ = seconds_to_wait(), end_ = seconds_now() + seconds_;
    bool announced_ = false;
};

int open_lock_file(int folder) { return ::openat(folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0644); }

}  // namespace

FolderLock::FolderLock(const HeldFolder& folder) : folder_(folder), mark_(new_mark()) {
    const std::string name = folder.path().string();
    const ConfigError refusal(concat(name, in_use, "wait for it to end, or choose another folder with --output"));
    TimedLock timed(name);
    const Locked whole = timed.lock(folder.descriptor());
    if (whole == Locked::held_by_another) throw refusal;
    file_ = open_lock_file(folder.descriptor());
    if (file_ < 0) throw ConfigError(concat(name, ": cannot create a lock file here\n  do: choose another folder with --output"));
    const Locked locked = timed.lock(file_);
    const bool written = locked != Locked::held_by_another && write_mark(file_);
    if (!written) ::close(std::exchange(file_, -1));
    if (locked == Locked::held_by_another) throw refusal;
    if (!written) throw ConfigError(concat(name, ": cannot write the lock file; is the disk full?"));
    if (whole == Locked::not_supported && locked == Locked::not_supported)
        log_warning(concat(name, ": this file system cannot lock folders or files; make sure that no other run uses the same ",
                           "--output"));
}

FolderLock::~FolderLock() {
    ::flock(folder_.descriptor(), LOCK_UN);
    ::close(file_);
}

bool FolderLock::write_mark(int file) const {
    return ::ftruncate(file, 0) == 0 && ::pwrite(file, mark_.data(), mark_.size(), 0) == static_cast<ssize_t>(mark_.size()) &&
           (::fsync(file) == 0 || errno == EINVAL);  // other hosts read the mark right away
}

bool FolderLock::keep() {
    const std::lock_guard one_at_a_time(mutex_);
    struct stat held {
    }, there{};
    const bool is_there = ::fstatat(folder_.descriptor(), lock_name, &there, 0) == 0;
    if (!is_there && errno != ENOENT) return true;  // the file system does not respond
    if (::fstat(file_, &held) != 0 || (is_there && held.st_ino == there.st_ino)) return true;
    const int file = open_lock_file(folder_.descriptor());
    if (file < 0) return true;  // the folder was deleted or is not writable: the next write reports it
    if (try_lock(file) == Locked::held_by_another) {
        ::close(file);
        return false;
    }
    write_mark(file);
    ::close(std::exchange(file_, file));
    return true;
}

}  // namespace bertpretrain
