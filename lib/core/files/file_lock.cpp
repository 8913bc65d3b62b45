#include "core/files/file_lock.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"

namespace bertpretrain {

FileLock::FileLock(const std::filesystem::path& file, const std::string& in_use)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw DataError(concat(file.string(), ": cannot be written (", std::strerror(errno), ")"));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return;  // some network file systems do not support locks
    ::close(descriptor_);
    throw ConfigError(in_use);
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace bertpretrain
