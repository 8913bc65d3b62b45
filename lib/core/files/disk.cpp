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

std::optional<std::uint64_t> free_bytes_of(const std::filesystem::path& folder) {
    std::error_code failure;
    const std::filesystem::space_info space = std::filesystem::space(folder, failure);
    if (failure || space.capacity == 0) return std::nullopt;
    return space.available;
}

std::string disk_advice(int reason) {
    if (reason == ENOSPC) return "\n  do: free disk space, then run the same command again";
    if (reason == EDQUOT) return "\n  do: free space of your quota, then run the same command again";
    if (reason == EFBIG)
        return "\n  do: write to another file system (FAT32 holds files below 4 GiB), or raise the limit of a file's size "
               "(`ulimit -f`)";
    return "";
}

}  // namespace bertpretrain
