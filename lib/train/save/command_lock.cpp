#include "train/save/command_lock.h"

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint_store.h"
#include "core/files/files.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = ".after_save_";

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

}  // namespace

CommandLock::CommandLock(CommandLock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

CommandLock& CommandLock::operator=(CommandLock&& other) noexcept {
    close();
    file_ = std::move(other.file_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    return *this;
}

CommandLock::~CommandLock() { close(); }

void CommandLock::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

CommandLock CommandLock::make(std::int64_t step, const fs::path& checkpoint) {
    CommandLock lock;
    if (!checkpoint.has_parent_path()) return lock;
    lock.file_ = checkpoint.parent_path() / (std::string(prefix) + step_folder_name(step));
    lock.descriptor_ = ::open(lock.file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock.descriptor_ >= 0 && ::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) lock.file_.clear();  // belongs to a command that is running
        lock.close();
    }
    return lock;
}

std::map<std::int64_t, CommandLock> CommandLock::left_in(const fs::path& checkpoints) {
    std::map<std::int64_t, CommandLock> locks;
    std::error_code missing;
    for (const fs::path& file : folder_entries(checkpoints, missing)) {
        const std::string name = file.filename().string();
        if (!name.starts_with(prefix)) continue;
        const auto step = step_of_folder_name(std::string_view(name).substr(prefix.size()));
        if (!step) continue;
        CommandLock lock;
        lock.file_ = file;
        lock.descriptor_ = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
        if (lock.descriptor_ >= 0) locks[*step] = std::move(lock);
    }
    return locks;
}

void CommandLock::give_to(pid_t process) {
    if (descriptor_ >= 0) ::dprintf(descriptor_, "%d\n", static_cast<int>(process));
    close();
}

bool CommandLock::is_held() const {
    if (descriptor_ < 0) return false;
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK;
    ::flock(descriptor_, LOCK_UN);
    return false;
}

pid_t CommandLock::holder() const {
    char text[32] = "";
    if (descriptor_ < 0 || ::pread(descriptor_, text, sizeof text - 1, 0) <= 0) return -1;
    int process = -1;
    struct stat own {
    }, theirs{};
    if (std::sscanf(text, "%d", &process) != 1 || process <= 1) return -1;
    const std::string open_file = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(inherited);
    const bool is_it = ::fstat(descriptor_, &own) == 0 && ::stat(open_file.c_str(), &theirs) == 0 && same_file(own, theirs);
    return is_it ? process : -1;
}

void CommandLock::remove_file() {
    std::error_code ignored;
    fs::remove(file_, ignored);
    close();
}

}  // namespace bertpretrain
