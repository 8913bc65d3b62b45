#include "core/files/file_lock.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files/disk.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

fs::path partial_of(fs::path file) { return file += ".partial"; }

}  // namespace

FileLock::FileLock(fs::path file, const std::string& in_use, Missing missing) : file_(std::move(file)) {
    constexpr int most_attempts = 100;  // some file systems give a file another inode number each time
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (descriptor_ >= 0) ::close(descriptor_);
        std::error_code ignored;
        int flags = fs::is_directory(file_, ignored) ? O_RDONLY | O_DIRECTORY : O_RDWR;
        if (flags == O_RDWR && missing == Missing::create) flags |= O_CREAT;
        descriptor_ = ::open(file_.c_str(), flags | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno == ENOENT && missing == Missing::leave) return;
        if (descriptor_ < 0) throw DataError(failed_write(file_, errno));
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK) return;  // some network file systems do not support locks
            ::close(descriptor_);
            throw ConfigError(in_use);
        }
        if (is_in_place()) return;  // else the process that held it has renamed or removed it in between
    }
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileLock::is_in_place() const {
    struct stat held {
    }, named{};
    return ::fstat(descriptor_, &held) == 0 && ::stat(file_.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

OutputLock::OutputLock(const fs::path& file, const std::string& in_use)
    : partial_(partial_of(file)),
      lock_(partial_, in_use.empty()
                          ? concat(file.string(), ": another process is writing this file (", partial_.filename().string(),
                                   " is locked)\n  do: wait for it, or choose another ", "--output")
                          : in_use) {}

OutputLock::~OutputLock() {
    std::error_code ignored;
    if (lock_.is_in_place() && fs::is_empty(partial_, ignored)) fs::remove(partial_, ignored);
}

LockedFile::LockedFile(const fs::path& file, const std::string& content, const std::string& in_use) : lock_(file, in_use) {
    const FileLock earlier(file, in_use, FileLock::Missing::leave);  // of a process whose .partial file has become this one
    const fs::path partial = partial_of(file);
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    if (!(out << content << std::flush)) throw DataError(failed_write(file, errno));
    std::error_code failure;
    fs::rename(partial, file, failure);
    if (failure) throw DataError(concat(file.string(), ": cannot be renamed from its .partial file (", failure.message(), ")"));
}

}  // namespace bertpretrain
