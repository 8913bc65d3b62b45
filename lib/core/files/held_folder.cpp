#include "core/files/held_folder.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

constexpr const char* descriptors = "/proc/self/fd/";

fs::path path_of(int descriptor) { return descriptors + std::to_string(descriptor); }

/// Descriptors of folders, by the absolute path under which each was opened. They stay open until the process ends.
struct OwnFolders {
    std::mutex mutex;
    std::map<fs::path, int> by_path;
};

OwnFolders& own_folders() {
    static auto* const folders = new OwnFolders;  // never destroyed: used during process exit
    return *folders;
}

fs::path full(const fs::path& folder) { return fs::absolute(folder / "").lexically_normal(); }

bool is_locked_by_another(const fs::path& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return false;
    const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(file);
    return locked;
}

}  // namespace

HeldFolder::HeldFolder(fs::path path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0)
        throw ConfigError(
            concat(path_.string(), ": this folder cannot be opened (", std::strerror(errno), "); choose another with --output"));
}

HeldFolder::~HeldFolder() { ::close(descriptor_); }

fs::path HeldFolder::by_descriptor() const {
    const fs::path path = path_of(descriptor_);
    return ::access(path.c_str(), F_OK) == 0 ? path : path_;
}

std::string HeldFolder::lost() const {
    struct stat held {
    }, there{};
    if (::fstat(descriptor_, &held) != 0) return "";
    const bool is_there = ::stat(path_.c_str(), &there) == 0;
    if (!is_there && errno != ENOENT && errno != ENOTDIR) return "";
    // A remount changes the device number but not the inode number, so only inodes are compared.
    if (is_there && held.st_ino == there.st_ino) return "";
    std::error_code unknown;
    const fs::path now = fs::read_symlink(by_descriptor(), unknown);
    const std::string fate = held.st_nlink == 0 ? "was deleted"
                             : unknown          ? "was renamed"
                                                : concat("was renamed to ", now.string());
    return fate + (is_there ? ", and another folder now has its name" : "");
}

fs::path name_now(const fs::path& path) {
    if (!path.string().starts_with(descriptors)) return path;
    std::error_code failure;
    const fs::path name = fs::canonical(path, failure);
    return failure ? path : name;
}

void write_own_files_in(const HeldFolder& folder) {
    const int descriptor = ::open(folder.by_descriptor().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);  // does not hold its lock
    if (descriptor < 0) return;
    OwnFolders& own = own_folders();
    const std::lock_guard lock(own.mutex);
    const auto [entry, is_new] = own.by_path.try_emplace(full(folder.path()), descriptor);
    if (!is_new) ::close(std::exchange(entry->second, descriptor));
}

std::optional<fs::path> own_place_of(const fs::path& file) {
    {
        OwnFolders& own = own_folders();
        const std::lock_guard lock(own.mutex);
        const auto found = own.by_path.find(full(file.parent_path()));
        if (found != own.by_path.end()) return path_of(found->second) / file.filename();
    }
    if (is_locked_by_another(file.parent_path())) return std::nullopt;
    return file;
}

}  // namespace bertpretrain
