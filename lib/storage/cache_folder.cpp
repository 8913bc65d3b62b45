#include "storage/cache_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files/files.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view marker_text =
    "bertpretrain keeps copies of an object store's files in this folder (data.cache_folder).\n"
    "It deletes copies when their space is needed. Do not keep files of your own here.\n"
    "While no program uses the folder, all of it may be deleted.\n";

constexpr std::string_view name_another = "\n  do: name another folder (data.cache_folder, or --cache-folder of evaluate)";

bool is_named(int descriptor, const fs::path& file) {
    struct stat opened {
    }, named{};
    return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

/// Opens a file and locks it. @returns -1 where it is missing or locked, or where `file` names another one by then
int open_locked(const fs::path& file, int flags, int lock) {
    constexpr mode_t for_this_user = 0600;
    const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, for_this_user);
    if (descriptor < 0 && errno == ENOENT && (flags & O_CREAT) == 0) return -1;
    if (descriptor < 0)
        throw DataError(
            concat(file.string(), ": cannot be opened (", std::strerror(errno),
                   ")\n  do: check that the folder is there, that this user may write to it, and that its disk has space"));
    const bool is_locked = ::flock(descriptor, lock | LOCK_NB) == 0;
    const int reason = is_locked ? 0 : errno;
    if (is_locked && is_named(descriptor, file)) return descriptor;
    ::close(descriptor);
    if (reason != 0 && reason != EWOULDBLOCK && reason != EINTR)
        throw ConfigError(
            concat(file.string(), ": cannot be locked (", std::strerror(reason),
                   "); processes that share a cache need locks\n  do: name a folder on a local disk (data.cache_folder)"));
    return -1;
}

/// Returns the folder, or one above it, that belongs to another user who could replace it: where all may create names, as in
/// /tmp, anyone may have been first. Root may use every folder.
std::optional<fs::path> folder_of_another_user(const fs::path& folder) {
    if (::geteuid() == 0) return std::nullopt;
    const auto is_foreign = [](const struct stat& of) { return of.st_uid != ::geteuid() && of.st_uid != 0; };
    struct stat status {
    }, above{};
    if (::stat(folder.c_str(), &status) == 0 && status.st_uid != ::geteuid()) return folder;
    fs::path at = fs::absolute(folder).lexically_normal();
    if (!at.has_filename()) at = at.parent_path();
    for (; at.has_relative_path(); at = at.parent_path())
        if (::lstat(at.c_str(), &status) == 0 && ::stat(at.parent_path().c_str(), &above) == 0 && is_foreign(status) &&
            (above.st_mode & S_IWOTH) != 0)
            return at;
    return std::nullopt;
}

void make_folder(const fs::path& folder) {
    std::error_code failure;
    if (fs::create_directories(folder, failure)) fs::permissions(folder, fs::perms::owner_all, failure);
    if (failure) throw ConfigError(concat(folder.string(), ": cannot be created (", failure.message(), ")", name_another));
    if (!fs::is_directory(folder, failure))
        throw ConfigError(concat(folder.string(), ": is a file, expected a folder", name_another));
    if (const auto foreign = folder_of_another_user(folder))
        throw ConfigError(concat(foreign->string(), ": belongs to another user, who could change the shards in ", folder.string(),
                                 "\n  do: name a folder of your own (data.cache_folder, or --cache-folder of evaluate)"));
}

}  // namespace

HeldFile::~HeldFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

CacheFolder::CacheFolder(fs::path folder, NameRule is_own) : folder_(std::move(folder)), is_own_(is_own) {
    make_folder(folder_);
    claim();
}

/// Marks the folder as the cache's. Processes may do so at the same time: all write the same bytes in place.
void CacheFolder::claim() const {
    const fs::path marker = folder_ / cache_marker;
    std::error_code failure;
    if (!fs::exists(marker, failure)) {
        std::vector<std::string> others;
        for (const fs::path& file : folder_entries(folder_, failure)) {
            const std::string name = file.filename().string();
            struct stat status {};
            if (name.starts_with('.') || name == cache_marker || ::lstat(file.c_str(), &status) != 0) continue;
            if (!S_ISREG(status.st_mode) || !is_own_(name, static_cast<std::uint64_t>(status.st_size))) others.push_back(name);
        }
        if (failure) throw ConfigError(concat(folder_.string(), ": cannot be listed (", failure.message(), ")", name_another));
        if (!others.empty())
            throw ConfigError(concat(folder_.string(), ": has \"", *std::ranges::min_element(others), "\"",
                                     others.size() > 1 ? concat(" and ", others.size() - 1, " more") : "",
                                     ", which no cache of bertpretrain wrote, and no ", cache_marker,
                                     "; a cache deletes files, so it needs a folder of its own. Nothing was deleted",
                                     "\n  do: name an empty or a new folder (data.cache_folder, or --cache-folder of evaluate)"));
    }
    const int descriptor = ::open(marker.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const bool is_written = descriptor >= 0 && ::pwrite(descriptor, marker_text.data(), marker_text.size(), 0) ==
                                                   static_cast<ssize_t>(marker_text.size());
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!is_written)
        throw ConfigError(concat(marker.string(), ": cannot be written (", std::strerror(reason), ")", name_another));
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
    const fs::path file = folder_ / name;
    const int descriptor = open_locked(file, O_RDONLY | O_NOFOLLOW, LOCK_EX);
    if (descriptor < 0) return !fs::exists(file);
    const HeldFile lock(descriptor);
    struct stat status {};
    const bool is_own = ::fstat(descriptor, &status) == 0 && is_own_(name, static_cast<std::uint64_t>(status.st_size));
    return is_own && ::unlink(file.c_str()) == 0;
}

void CacheFolder::discard(const std::string& name, const HeldFile& held) const {
    const fs::path partial = folder_ / concat(name, partial_ending);
    const int descriptor = open_locked(partial, O_RDWR | O_CREAT, LOCK_EX);  // no process replaces the file now
    if (descriptor < 0) return;
    const HeldFile lock(descriptor);
    if (is_named(held.descriptor(), folder_ / name)) ::unlink((folder_ / name).c_str());
}

std::optional<bool> CacheFolder::fetch(const std::string& name, const std::function<bool(const fs::path&)>& fill,
                                       const std::function<bool(const fs::path&)>& is_current) const {
    const fs::path partial = folder_ / concat(name, partial_ending), file = folder_ / name;
    const int descriptor = open_locked(partial, O_RDWR | O_CREAT, LOCK_EX);
    if (descriptor < 0) return std::nullopt;
    const HeldFile lock(descriptor);
    std::error_code failure;
    if (fs::exists(file, failure) && (!is_current || is_current(file))) {  // another process has just fetched it
        fs::remove(partial, failure);
        return true;
    }
    const bool is_right = fill(partial);
    if (!fs::exists(partial, failure)) return std::nullopt;  // another program has deleted it
    check(is_named(descriptor, partial), partial.string(), " was replaced while it was filled");
    if (is_right) fs::rename(partial, file, failure);
    else fs::remove(partial, failure);
    if (failure)
        throw DataError(concat(file.string(), ": cannot be renamed from its .partial file (", failure.message(),
                               ")\n  do: check the permissions of the folder"));
    return is_right;
}

std::vector<CacheFolder::Entry> CacheFolder::entries() const {
    std::vector<Entry> found;
    std::error_code failure;
    for (const fs::path& file : folder_entries(folder_, failure)) {
        struct stat status {};
        if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        const auto bytes = static_cast<std::uint64_t>(status.st_size);
        if (std::string name = file.filename().string(); is_own_(name, bytes))
            found.push_back({std::move(name), bytes, status.st_atim.tv_sec});
    }
    return found;
}

}  // namespace bertpretrain
