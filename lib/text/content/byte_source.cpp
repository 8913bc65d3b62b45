#include "text/content/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "storage/object_reader.h"

namespace bertpretrain {

bool can_be_read_again(const std::filesystem::path& input) {
    return is_remote_address(input.string()) || std::filesystem::is_regular_file(input);
}

ByteSource::ByteSource(const std::filesystem::path& path, std::shared_ptr<RunningDigest> digest)
    : name_(path.string()), digest_(std::move(digest)) {
    if (path == standard_input) {
        name_ = "standard input";
        handle_ = STDIN_FILENO;
        owns_handle_ = false;
    } else if (is_remote_address(name_)) {
        object_ = std::make_unique<ObjectReader>(parse_remote_address(name_));
    } else {
        handle_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (handle_ < 0) throw DataError(concat(name_, ": cannot be read (", std::strerror(errno), ")"));
        struct stat facts {};
        if (::fstat(handle_, &facts) == 0 && S_ISDIR(facts.st_mode)) {
            ::close(handle_);
            throw DataError(concat(name_, ": is a folder, expected a file\n  do: name a file in it"));
        }
        ::posix_fadvise(handle_, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
}

ByteSource::~ByteSource() {
    if (owns_handle_ && handle_ >= 0) ::close(handle_);
}

std::size_t ByteSource::read_input(char* into, std::size_t size) {
    const std::size_t count = object_ ? object_->read_at(taken_, into, size) : read_file(into, size);
    taken_ += count;
    if (digest_) digest_->add({into, count});
    return count;
}

std::size_t ByteSource::read_file(char* into, std::size_t size) {
    while (true) {
        const ssize_t count = ::read(handle_, into, size);
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno != EINTR)
            throw DataError(
                concat(name_, ": reading failed at byte ", position_, " (", std::strerror(errno), "); check the disk"));
    }
}

std::string_view ByteSource::peek(std::size_t size) {
    constexpr std::size_t first_read = std::size_t{1} << 16;  // a small file takes no more memory
    std::size_t filled = peeked_.size();
    while (filled < size) {
        peeked_.resize(std::min(size, std::max(first_read, 2 * filled)));
        const std::size_t count = read_input(peeked_.data() + filled, peeked_.size() - filled);
        if (count == 0) break;
        filled += count;
    }
    peeked_.resize(filled);
    return std::string_view(peeked_).substr(0, size);
}

std::size_t ByteSource::read(char* into, std::size_t size) {
    std::size_t count = std::min(size, peeked_.size());
    if (count > 0) {
        peeked_.copy(into, count);
        peeked_.erase(0, count);
    } else {
        count = read_input(into, size);
    }
    position_ += count;
    return count;
}

}  // namespace bertpretrain
