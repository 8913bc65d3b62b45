#pragma once
// A folder of copied objects that several processes share.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bertpretrain {

inline constexpr std::string_view partial_ending = ".partial";
/// The file that marks a folder as a cache's. It tells a reader of the folder what that means.
inline constexpr std::string_view cache_marker = "bertpretrain_cache.txt";

/// Keeps a cached file from being evicted by any process while it exists.
class HeldFile {
public:
    explicit HeldFile(int descriptor) : descriptor_(descriptor) {}
    HeldFile(HeldFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    HeldFile& operator=(HeldFile&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~HeldFile();
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;  ///< with a lock
};

/// Files appear here under their name complete, or not at all; files being fetched end in ".partial". Locks on the files
/// themselves (flock) keep processes of one host from fetching a file twice and from deleting one in use. Thread-safe.
///
/// The folder belongs to the cache if it has the marker, which is written into an empty folder only, or into one that an earlier
/// version filled: one in which every file satisfies the rule for names, but for those whose names begin with a dot. All other
/// files are the user's: they are neither listed nor deleted.
///
/// Members throw DataError when a file cannot be opened, and ConfigError when the file system has no locks.
class CacheFolder {
public:
    /// Whether the cache gives this name to a file of so many bytes.
    using NameRule = bool (*)(std::string_view name, std::uint64_t bytes);

    /// Creates the folder, for this user only, and marks it.
    /// @throws ConfigError when it is not writable, belongs to another user, or has files that are not a cache's
    CacheFolder(std::filesystem::path folder, NameRule is_own);

    const std::filesystem::path& path() const { return folder_; }
    std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }

    /// Holds a file that is here; nullopt if it is not.
    std::optional<HeldFile> hold(const std::string& name) const;
    /// Deletes a file of the cache, unless a process holds it. @returns whether it is gone
    bool remove(const std::string& name) const;
    /// Deletes a file whose content is wrong, unless another process has replaced it already or is fetching it.
    void discard(const std::string& name, const HeldFile& held) const;

    /// Fetches a file, or replaces it. @param fill completes the partial file in place, which an earlier attempt may have begun;
    /// returns whether its content is right; if not, the partial file is deleted. It must not replace the partial file by
    /// another, because the lock is on that one
    /// @param is_current whether a file that is here need not be fetched; empty: every one
    /// @returns nullopt if another process is fetching it, else what `fill` returned. An exception of `fill` passes through, and
    /// the partial file stays
    std::optional<bool> fetch(const std::string& name, const std::function<bool(const std::filesystem::path& partial)>& fill,
                              const std::function<bool(const std::filesystem::path& file)>& is_current = {}) const;

    struct Entry {
        std::string name;
        std::uint64_t bytes = 0;
        std::int64_t last_use = 0;  ///< seconds since 1970
    };
    /// Lists the cache's own files, partial ones included.
    std::vector<Entry> entries() const;

private:
    void claim() const;

    std::filesystem::path folder_;
    NameRule is_own_;
};

}  // namespace bertpretrain
