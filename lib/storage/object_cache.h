#pragma once
// Fetches objects ahead of their use into a folder of bounded size.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/cache_folder.h"
#include "storage/object_store.h"

namespace bertpretrain {

/// An object with the content that it must have.
struct CachedObject {
    std::shared_ptr<ObjectStore> store;
    std::string name;
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;
};

/// Each user of the cache lists its objects by their next use. The cache keeps those that are needed first, as many as fit: its
/// threads fetch them, and evict those that are needed last. Objects are verified before their first use in this process, and
/// fetched again if their bytes are wrong. Several processes may share the folder, also for other objects. Thread-safe; each user
/// calls its members one after the other.
///
/// A file's name is CRC32_BYTES_NAME, such as 0a1b2c3d_1234_training_000.h5. Only files of such a name whose size is the one in
/// the name (a partial file's at most that) count, and only they are evicted (CacheFolder).
class ObjectCache {
public:
    static constexpr std::size_t default_threads = 8;
    static constexpr int most_attempts = 3;  ///< downloads of an object whose checksum is wrong

    /// @param limit_bytes of all the cache's files in the folder; exceeded only while processes hold more than that
    /// @throws ConfigError for a folder that cannot be written, or that is not a cache's (CacheFolder)
    ObjectCache(std::filesystem::path folder, std::uint64_t limit_bytes, std::size_t threads = default_threads);
    ObjectCache(const ObjectCache&) = delete;
    ObjectCache& operator=(const ObjectCache&) = delete;
    ~ObjectCache();  ///< stops the transfers; they continue at the next start

    /// @returns the object's index
    std::size_t add(CachedObject object);

    struct Use {
        std::size_t object = 0;
        double when = 0;  ///< relative to the other uses, of other users too
    };
    /// Replaces a user's list of next uses.
    void set_uses(std::size_t user, const std::vector<Use>& uses);
    /// Waits until the objects are here and holds them, instead of those that the user held before.
    /// @returns false where a stop was requested  @throws DataError, DistributedError or ConfigError when one cannot be fetched
    bool hold(std::size_t user, std::span<const std::size_t> objects, const std::stop_token& stop = {});
    /// Returns where an object is, if it is here and verified. It may be evicted unless a user holds it.
    std::optional<std::filesystem::path> find(std::size_t object);

    std::uint64_t limit_bytes() const { return limit_bytes_; }
    /// Number of objects that this process has fetched.
    std::size_t fetched() const { return fetched_; }

private:
    struct Entry {
        CachedObject object;
        std::string file;                      ///< its name in the folder
        bool is_verified = false;              ///< its file had the right content in this process
        bool is_in_work = false;               ///< a thread of this process fetches or verifies it
        int wrong = 0;                         ///< downloads with wrong bytes
        std::exception_ptr failure = nullptr;  ///< why it cannot be fetched
    };
    void work(const std::stop_token& stop);
    std::optional<std::size_t> next_task();
    void bring(std::size_t object, const std::stop_token& stop, std::unique_lock<std::mutex>& lock);
    std::optional<bool> verify(const Entry& entry) const;
    std::optional<bool> fetch(const Entry& entry, const std::stop_token& stop) const;
    bool make_room(bool is_awaited);
    void forget(const std::string& file);
    bool is_here(const Entry& entry) const;
    bool is_awaited(std::size_t object) const;

    CacheFolder folder_;
    std::uint64_t limit_bytes_;
    mutable std::mutex mutex_;  ///< protects all below
    std::condition_variable_any changed_;
    std::vector<Entry> entries_;
    std::map<std::size_t, std::vector<Use>> uses_;                 ///< by user
    std::vector<std::size_t> wanted_;                              ///< by next use: those that fit
    std::map<std::string, double> next_use_;                       ///< by file
    std::map<std::size_t, std::map<std::size_t, HeldFile>> held_;  ///< by user and object
    std::map<std::size_t, std::set<std::size_t>> awaited_;         ///< by user, while it waits in hold()
    std::size_t fetched_ = 0;
    std::vector<std::jthread> threads_;  ///< last: they end before what they use
};

}  // namespace bertpretrain
