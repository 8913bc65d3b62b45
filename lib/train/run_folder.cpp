#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files.h"

namespace bertpretrain {

RunFolder::RunFolder(std::filesystem::path path) : path_(std::move(path)) {
    make_writable_folder(path_);
    lock_ = ::open((path_ / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0)
        throw ConfigError(concat(path_.string(), ": cannot make a lock file here; choose another folder with --output"));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        ::close(lock_);
        throw ConfigError(
            concat(path_.string(), ": another process is training in this folder; wait for it, or choose another with --output"));
    }
}

RunFolder::~RunFolder() { ::close(lock_); }

}  // namespace bertpretrain
