// For LD_PRELOAD: makes calls of one function of the C library hang, fail or take longer, to imitate a bad disk.
//   FAULT_CALL   pread, pwrite, write, fsync, fsync_folder, readdir, flock, mmap, close, statvfs (reports a size of 0) or
//   pthread_create FAULT_FILE   part of the path of the affected files FAULT_WHEN   a file: nothing happens until it exists
//   FAULT_AFTER  how many such calls succeed first (0)
//   FAULT_RANK   the affected rank ($RANK); every process if not set
//   FAULT_DO     hang, fail, or slow: every such call takes FAULT_SECONDS longer
//   FAULT_ERROR  errno of a call that fails (5: EIO)
//   FAULT_TIMES  how many calls then fail (1); calls that hang never return
//   FAULT_ONCE   a file that the first fault creates; if it exists already, nothing happens (so that restarts succeed)
//   FAULT_REACHED  a file that a call creates before it hangs or fails
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace {

std::string variable(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

std::string path_of(int file) {
    char path[4096];
    const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
    return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

void wait_seconds(double seconds) {
    const auto nanoseconds = static_cast<std::int64_t>(seconds * 1e9);
    std::timespec rest{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    while (::nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}

/// Returns whether this call must fail, with errno set. Does not return if the call must hang.
bool strikes(const char* call, int file) {
    static std::atomic<long> calls{0};
    static std::atomic<bool> spent{false};  // the fault has happened already, in another process
    if (spent) return false;
    if (variable("FAULT_CALL", "") != call || path_of(file).find(variable("FAULT_FILE", "")) == std::string::npos) return false;
    if (const std::string when = variable("FAULT_WHEN", ""); !when.empty() && ::access(when.c_str(), F_OK) != 0) return false;
    if (const std::string rank = variable("FAULT_RANK", ""); !rank.empty() && rank != variable("RANK", "")) return false;
    if (variable("FAULT_DO", "hang") == "slow") {
        wait_seconds(std::stod(variable("FAULT_SECONDS", "0.1")));
        return false;
    }
    const long number = calls++, first = std::stol(variable("FAULT_AFTER", "0"));
    const bool hangs = variable("FAULT_DO", "hang") == "hang";
    if (number < first || (!hangs && number >= first + std::stol(variable("FAULT_TIMES", "1")))) return false;
    if (const std::string once = variable("FAULT_ONCE", ""); !once.empty() && number == first) {
        const int mark = ::open(once.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
        spent = mark < 0;
        if (spent) return false;
        ::close(mark);
    }
    if (const std::string reached = variable("FAULT_REACHED", ""); !reached.empty())
        ::close(::open(reached.c_str(), O_CREAT | O_WRONLY, 0644));
    while (hangs) ::pause();
    errno = std::stoi(variable("FAULT_ERROR", "5"));
    return true;
}

template <class Function>
Function next(const char* name) {
    Function function = nullptr;
    void* const found = ::dlsym(RTLD_NEXT, name);
    std::memcpy(&function, &found, sizeof function);
    return function;
}

}  // namespace

extern "C" {

ssize_t pread(int file, void* buffer, std::size_t size, off_t offset) {
    static const auto real = next<ssize_t (*)(int, void*, std::size_t, off_t)>("pread");
    return strikes("pread", file) ? -1 : real(file, buffer, size, offset);
}

ssize_t pread64(int file, void* buffer, std::size_t size, off64_t offset) { return pread(file, buffer, size, offset); }

int fsync(int file) {
    static const auto real = next<int (*)(int)>("fsync");
    struct stat status {};
    const bool is_folder = ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
    return strikes("fsync", file) || (is_folder && strikes("fsync_folder", file)) ? -1 : real(file);
}

ssize_t pwrite(int file, const void* buffer, std::size_t size, off_t offset) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
    return strikes("pwrite", file) ? -1 : real(file, buffer, size, offset);
}

ssize_t write(int file, const void* buffer, std::size_t size) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
    return strikes("write", file) ? -1 : real(file, buffer, size);
}

dirent* readdir(DIR* folder) {
    static const auto real = next<dirent* (*)(DIR*)>("readdir");
    return strikes("readdir", ::dirfd(folder)) ? nullptr : real(folder);
}

dirent64* readdir64(DIR* folder) {
    static const auto real = next<dirent64* (*)(DIR*)>("readdir64");
    return strikes("readdir", ::dirfd(folder)) ? nullptr : real(folder);
}

int flock(int file, int operation) {
    static const auto real = next<int (*)(int, int)>("flock");
    return strikes("flock", file) ? -1 : real(file, operation);
}

void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
    static const auto real = next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
    return file >= 0 && strikes("mmap", file) ? MAP_FAILED : real(address, size, protection, flags, file, offset);
}

/// The file is closed, as by Linux, but the call reports what an earlier write could not.
int close(int file) {
    static const auto real = next<int (*)(int)>("close");
    const bool fails = strikes("close", file);
    const int reason = errno, result = real(file);
    if (fails) errno = reason;
    return fails ? -1 : result;
}

int statvfs(const char* path, struct statvfs* space) {
    static const auto real = next<int (*)(const char*, struct statvfs*)>("statvfs");
    const int result = real(path, space);
    if (strikes("statvfs", -1)) space->f_blocks = space->f_bfree = space->f_bavail = 0;
    return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
    static const auto real = next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    return strikes("pthread_create", -1) ? errno : real(thread, attributes, body, argument);
}

}  // extern "C"
