#include "core/files/disk.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace bertpretrain {

bool flush_handle(int handle) {
    if (::fsync(handle) == 0) return true;
    const int reason = errno;
    struct stat status {};
    const bool is_folder = ::fstat(handle, &status) == 0 && S_ISDIR(status.st_mode);
    errno = reason;
    return is_folder && (reason == EINVAL || reason == EOPNOTSUPP);
}

}  // namespace bertpretrain
