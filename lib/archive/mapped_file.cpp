#include "archive/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files/disk.h"

namespace bertpretrain {
namespace {

/// Reads a whole file into memory of its own. @returns MAP_FAILED, with errno set, if it cannot be read to its end
void* copy_of(int handle, std::size_t bytes) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || read_fully(handle, 0, memory, bytes) == bytes) return memory;
    const int reason = errno == 0 ? EIO : errno;
    ::munmap(memory, bytes);
    errno = reason;
    return MAP_FAILED;
}

}  // namespace

MappedFile::MappedFile(std::filesystem::path file) : file_(std::move(file)) {
    const int handle = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // O_NONBLOCK: opening a pipe must not block
    struct stat status {};
    if (handle < 0 || ::fstat(handle, &status) != 0) {
        const int reason = errno;
        if (handle >= 0) ::close(handle);
        throw CheckpointError(concat(file_.string(), ": cannot be opened (", std::strerror(reason), ")"));
    }
    const auto bytes = static_cast<std::size_t>(status.st_size);
    const bool regular = S_ISREG(status.st_mode);
    void* memory = regular && bytes > 0 ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, handle, 0) : nullptr;
    if (memory == MAP_FAILED && errno == ENODEV) memory = copy_of(handle, bytes);  // FUSE and 9p without mmap
    const int reason = errno;
    ::close(handle);
    if (!regular) throw CheckpointError(concat(file_.string(), ": is not a regular file"));
    if (memory == MAP_FAILED) throw CheckpointError(concat(file_.string(), ": cannot be mapped (", std::strerror(reason), ")"));
    if (memory != nullptr) bytes_ = {static_cast<const std::byte*>(memory), bytes};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace bertpretrain
