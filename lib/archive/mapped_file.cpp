#include "archive/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace bertpretrain {

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
    void* const memory = regular && bytes > 0 ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, handle, 0) : nullptr;
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
