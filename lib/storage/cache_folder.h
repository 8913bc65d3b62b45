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

private:
    int descriptor_;  ///< with a shared lock
};

/// Files appear here under their name complete, or not at all; files being fetched end in ".partial". Locks on the files
/// themselves (flock) keep processes of one host from fetching a file twice and from deleting one in use. Thread-safe.
class CacheFolder {
public:
    /// Creates the folder, for this user only. @throws ConfigError when it is not writable or belongs to another user
    explicit CacheFolder(std::filesystem::path folder);

    const std::filesystem::path& path() const { return folder_; }
    std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }

    /// Holds a file that is here; nullopt if it is not.
    std::optional<HeldFile> hold(const std::string& name) const;
    /// Deletes a file, unless a process holds it. @returns whether it is gone
    bool remove(const std::string& name) const;

    /// Fetches a file. @param fill completes the partial file, which an earlier attempt may have begun; returns whether its
    /// content is right; if not, the partial file is deleted
    /// @returns nullopt if another process is fetching it, else what `fill` returned. An exception of `fill` passes through, and
    /// the partial file stays
    std::optional<bool> fetch(const std::string& name,
                              const std::function<bool(const std::filesystem::path& partial)>& fill) const;

    struct Entry {
        std::string name;
        std::uint64_t bytes = 0;
        std::int64_t last_use = 0;  ///< seconds since 1970
    };
    /// Lists the files, partial ones included.
    std::vector<Entry> entries() const;

private:
    std::filesystem::path folder_;
};

}  // namespace bertpretrain
