#include "storage/cache_folder.h"

#include <array>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// Opens a file and locks it, if the lock is free and `file` still names the opened file.
int open_locked(const fs::path& file, int flags, int lock) {
    const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, 0600);
    if (descriptor < 0) return -1;
    struct stat opened {
    }, named{};
    const bool is_ours = ::flock(descriptor, lock | LOCK_NB) == 0 && ::fstat(descriptor, &opened) == 0 &&
                         ::stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
    if (is_ours) return descriptor;
    ::close(descriptor);
    return -1;
}

}  // namespace

HeldFile::~HeldFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

CacheFolder::CacheFolder(fs::path folder) : folder_(std::move(folder)) {
    const bool is_new = !fs::exists(folder_);
    make_writable_folder(folder_);
    if (is_new) fs::permissions(folder_, fs::perms::owner_all);
    struct stat status {};
    if (::stat(folder_.c_str(), &status) == 0 && status.st_uid != ::geteuid() && ::geteuid() != 0)
        throw ConfigError(concat(folder_.string(), ": belongs to another user, who could change the shards in it",
                                 "\n  do: name a folder of your own (data.cache_folder)"));
}

std::optional<HeldFile> CacheFolder::hold(const std::string& name) const {
    const int descriptor = open_locked(folder_ / name, O_RDONLY, LOCK_SH);
    if (descriptor < 0) return std::nullopt;
    // The time of access is the time of the last use. The time of modification stays, as it is part of a file's identity.
    const std::array<timespec, 2> times{timespec{0, UTIME_NOW}, timespec{0, UTIME_OMIT}};
    ::futimens(descriptor, times.data());
    return HeldFile(descriptor);
}

bool CacheFolder::remove(const std::string& name) const {
    const int descriptor = open_locked(folder_ / name, O_RDONLY, LOCK_EX);
    if (descriptor < 0) return !fs::exists(folder_ / name);
    const bool is_gone = ::unlink((folder_ / name).c_str()) == 0;
    ::close(descriptor);
    return is_gone;
}

std::optional<bool> CacheFolder::fetch(const std::string& name, const std::function<bool(const fs::path&)>& fill) const {
    const fs::path partial = folder_ / concat(name, partial_ending);
    const int descriptor = open_locked(partial, O_RDWR | O_CREAT, LOCK_EX);
    if (descriptor < 0) return std::nullopt;
    const HeldFile lock(descriptor);
    if (fs::exists(folder_ / name)) {  // another process has just fetched it
        fs::remove(partial);
        return true;
    }
    const bool is_right = fill(partial);
    if (is_right) fs::rename(partial, folder_ / name);
    else fs::remove(partial);
    return is_right;
}

std::vector<CacheFolder::Entry> CacheFolder::entries() const {
    std::vector<Entry> found;
    std::error_code failure;
    for (const fs::path& file : folder_entries(folder_, failure)) {
        struct stat status {};
        if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode))
            found.push_back({file.filename().string(), static_cast<std::uint64_t>(status.st_size), status.st_atim.tv_sec});
    }
    return found;
}

}  // namespace bertpretrain
