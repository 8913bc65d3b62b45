#include "core/files/disk.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include "core/concat.h"

namespace bertpretrain {

std::size_t read_fully(int handle, std::uint64_t offset, void* into, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = ::pread(handle, static_cast<char*>(into) + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

bool write_fully(int handle, std::uint64_t offset, const void* bytes, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
        const ssize_t wrote =
            ::pwrite(handle, static_cast<const char*>(bytes) + done, size - done, static_cast<off_t>(offset + done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote == 0) errno = ENOSPC;
        if (wrote <= 0) return false;
        done += static_cast<std::size_t>(wrote);
    }
    return true;
}

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

std::string advice_by_text(std::string_view description) {
    for (const int reason : {ENOSPC, EDQUOT, EFBIG})
        if (description.find(std::strerror(reason)) != std::string_view::npos) return disk_advice(reason);
    return "";
}

std::string failed_write(const std::filesystem::path& file, int reason) {
    return concat(file.string(), ": cannot be written (", std::strerror(reason), ")", disk_advice(reason));
}

}  // namespace bertpretrain
