#include "core/files/temporary_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files/disk.h"

namespace bertpretrain {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

[[noreturn]] void refuse_temporary(const std::filesystem::path& folder, const char* what, int reason) {
    throw DataError(
        concat(folder.string(), ": a temporary file cannot be ", what, " (", std::strerror(reason), ")", disk_advice(reason)));
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& folder) : folder_(folder) {
    std::string name = (folder / ".temporary.XXXXXX").string();
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) refuse_temporary(folder_, "created", errno);
    ::unlink(name.c_str());
}

TemporaryFile::~TemporaryFile() { ::close(descriptor_); }

std::filesystem::path TemporaryFile::path() const { return concat("/proc/self/fd/", descriptor_); }

std::uint64_t TemporaryFile::append(const void* bytes, std::size_t size) {
    const std::uint64_t offset = this->size();
    buffer_.append(static_cast<const char*>(bytes), size);
    if (buffer_.size() >= buffer_bytes) flush();
    return offset;
}

void TemporaryFile::flush() {
    if (!write_fully(descriptor_, written_, buffer_.data(), buffer_.size())) refuse_temporary(folder_, "written", errno);
    written_ += buffer_.size();
    if (buffer_.capacity() > 2 * buffer_bytes) std::string().swap(buffer_);
    buffer_.clear();
}

void TemporaryFile::read_at(std::uint64_t offset, void* into, std::size_t size) const {
    if (read_fully(descriptor_, offset, into, size) < size) refuse_temporary(folder_, "read", errno == 0 ? EIO : errno);
}

}  // namespace bertpretrain
