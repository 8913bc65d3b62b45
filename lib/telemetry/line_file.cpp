#include "telemetry/line_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const char* what) {
    throw DataError(concat(file.string(), ": ", what, " (", std::strerror(errno), "); check permissions and free space"));
}

/// Returns the size of the file up to and including the last "\n".
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
    if (struct stat facts{}; ::fstat(handle_, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        ::close(handle_);
        throw DataError(concat(path_.string(), ": is not a regular file, so lines written to it would be lost; remove it"));
    }
    const off_t whole = whole_lines_size(handle_);
    if (whole >= 0 && (::lseek(handle_, 0, SEEK_END) == whole || ::ftruncate(handle_, whole) == 0)) return;
    const int reason = errno;
    ::close(handle_);
    errno = reason;
    refuse(path_, "cannot be searched for its last whole line");
}

LineFile::~LineFile() {
    try {
        finish();
    } catch (const DataError& error) { log_error(error.what()); }
    ::close(handle_);
}

void LineFile::finish() {
    if (write_kept()) return;
    const std::string reason = std::strerror(errno);
    const auto lines = std::count(kept_.begin(), kept_.end(), '\n');
    kept_.clear();
    throw DataError(concat(path_.string(), ": the last ", lines, " line(s) could not be written and are lost (", reason,
                           "); check free space"));
}

/// Where it returns false, errno is set, and the file contains none of kept_, or the bytes written are removed from kept_.
bool LineFile::write_kept() {
    if (kept_.empty()) return true;
    const off_t before = ::lseek(handle_, 0, SEEK_END);
    for (std::size_t done = 0; done < kept_.size();) {
        const ssize_t count = ::write(handle_, kept_.data() + done, kept_.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            const int reason = errno;
            if (done > 0 && ::ftruncate(handle_, before) != 0)
                kept_.erase(0, done);  // the next call continues in the middle of a line
            errno = reason;
            return false;
        }
        done += static_cast<std::size_t>(count);
    }
    kept_.clear();
    is_behind_ = false;
    return true;
}

/// Without the folder there is nothing to warn of: train/records/run_folder.h notices one that was renamed or deleted.
void LineFile::warn_if_replaced() {
    struct stat open {
    }, at_path{};
    const bool is_there = ::stat(path_.c_str(), &at_path) == 0;
    if (is_replaced_ || ::fstat(handle_, &open) != 0) return;
    if (is_there ? open.st_ino == at_path.st_ino && open.st_dev == at_path.st_dev
                 : errno != ENOENT || !std::filesystem::exists(std::filesystem::absolute(path_).parent_path()))
        return;
    is_replaced_ = true;
    log_warning(concat(path_.string(), ": was ", is_there ? "replaced" : "deleted",
                       " while this process writes it; its lines go to ",
                       "the old file, which is lost when the process ends\n  do: copy /proc/", ::getpid(), "/fd/", handle_,
                       " to another place before that"));
}

bool LineFile::retry() {
    warn_if_replaced();
    return write_kept();
}

void LineFile::append(std::string_view line) {
    kept_.append(line).push_back('\n');
    if (write_kept()) return;
    if (kept_.size() > most_kept) refuse(path_, "cannot be written");
    if (!std::exchange(is_behind_, true))
        log_warning(concat(path_.string(), ": cannot be written (", std::strerror(errno),
                           "); the run continues and keeps these lines in memory until they can be written"));
}

void for_each_whole_line(const std::filesystem::path& file, const std::function<bool(const std::string&)>& visit) {
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file))
        throw DataError(concat(file.string(), ": cannot be read (", std::strerror(errno), ")"));
    for (std::string line; std::getline(in, line) && !in.eof();)  // eof: the last line is incomplete
        if (!visit(line)) return;
    if (in.bad()) throw DataError(concat(file.string(), ": cannot be read to its end (", std::strerror(errno), ")"));
}

}  // namespace bertpretrain
