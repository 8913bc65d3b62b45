#include "core/files/random_access_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <isa-l/crc.h>

#include "core/error.h"
#include "core/files/disk.h"

namespace bertpretrain {

RandomAccessFile::RandomAccessFile(const std::filesystem::path& file) : file_(file) {
    handle_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    const bool is_known = handle_ >= 0 && ::fstat(handle_, &status) == 0;
    const int reason = is_known && S_ISDIR(status.st_mode) ? EISDIR : errno;
    if (is_known && !S_ISDIR(status.st_mode)) {
        identity_ = {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec};
        return;
    }
    if (handle_ >= 0) ::close(handle_);
    throw DataError(concat(file.string(), ": cannot be read (", std::strerror(reason), ")"));
}

RandomAccessFile::~RandomAccessFile() { ::close(handle_); }

void RandomAccessFile::read_at(std::uint64_t offset, std::span<unsigned char> to) const {
    const std::size_t read = read_fully(handle_, offset, to.data(), to.size());
    if (read < to.size())
        throw DataError(concat(file_.string(), ": cannot be read at byte ", offset + read, " (",
                               errno == 0 ? "the file ends there" : std::strerror(errno), ")"));
}

std::uint32_t RandomAccessFile::crc32() const {
    std::vector<unsigned char> buffer(1 << 20);
    std::uint32_t crc = 0;
    for (std::uint64_t offset = 0; offset < identity_.bytes;) {
        const std::span<unsigned char> part =
            std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), identity_.bytes - offset)));
        read_at(offset, part);
        crc = ::crc32_gzip_refl(crc, part.data(), part.size());
        offset += part.size();
    }
    return crc;
}

}  // namespace bertpretrain
