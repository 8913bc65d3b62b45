#include "core/files/input_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files/disk.h"

namespace bertpretrain {

InputFile::InputFile(std::filesystem::path file)
    : path_(std::move(file)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw DataError(concat(path_.string(), ": cannot be read (", std::strerror(errno), ")"));
}

InputFile::~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

std::size_t InputFile::read_at(std::uint64_t offset, char* bytes, std::size_t size) const {
    const std::size_t have = read_fully(descriptor_, offset, bytes, size);
    if (have < size && errno != 0) throw DataError(concat(path_.string(), ": cannot be read (", std::strerror(errno), ")"));
    return have;
}

}  // namespace bertpretrain
