#include "telemetry/line_file.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const char* what) {
    throw DataError(concat(file.string(), ": ", what, " (", std::strerror(errno), "); check permissions and free space"));
}

/// Bytes up to and with the last "\n".
off_t whole_lines_size(int handle) {
    char buffer[4096];
    for (off_t end = ::lseek(handle, 0, SEEK_END); end > 0;) {
        const off_t start = end > off_t{sizeof buffer} ? end - off_t{sizeof buffer} : 0;
        const ssize_t count = ::pread(handle, buffer, static_cast<std::size_t>(end - start), start);
        if (count != end - start) return -1;
        if (const void* last = ::memrchr(buffer, '\n', static_cast<std::size_t>(count)))
            return start + (static_cast<const char*>(last) - buffer) + 1;
        end = start;
    }
    return 0;
}

}  // namespace

LineFile::LineFile(std::filesystem::path file) : path_(std::move(file)) {
    handle_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (handle_ < 0) refuse(path_, "cannot be opened for appending");
    const off_t whole = whole_lines_size(handle_);
    if (whole >= 0 && (::lseek(handle_, 0, SEEK_END) == whole || ::ftruncate(handle_, whole) == 0)) return;
    const int reason = errno;
    ::close(handle_);
    errno = reason;
    refuse(path_, "cannot be read to its end");
}

LineFile::~LineFile() { ::close(handle_); }

void LineFile::append(std::string_view line) {
    const std::string text = std::string(line) + "\n";
    const off_t before = ::lseek(handle_, 0, SEEK_END);
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(handle_, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            const int reason = errno;
            const bool is_whole = done == 0 || ::ftruncate(handle_, before) == 0;
            errno = reason;
            refuse(path_, is_whole ? "cannot be written" : "cannot be written, its last line is torn");
        }
        done += static_cast<std::size_t>(count);
    }
}

}  // namespace bertpretrain
