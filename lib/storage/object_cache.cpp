#include "storage/object_cache.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// How often to look whether another process has fetched a file or made room.
constexpr std::chrono::milliseconds look_again{50};

/// "0a1b2c3d_1234_training_000.h5"
std::string file_name(const CachedObject& object) {
    std::string digits;
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[object.crc32 >> static_cast<unsigned>(shift) & 15U];
    return concat(digits, "_", object.bytes, "_", fs::path(object.name).filename().string());
}

/// Whether file_name() gives this name to an object, of whose file so many bytes are here.
bool is_cache_file(std::string_view name, std::uint64_t bytes) {
    constexpr std::size_t crc32_digits = 8, most_digits = 19;
    const bool is_partial = name.ends_with(partial_ending);
    if (is_partial) name.remove_suffix(partial_ending.size());
    if (name.size() < crc32_digits + 1 || name.find_first_not_of("0123456789abcdef") != crc32_digits || name[crc32_digits] != '_')
        return false;
    name.remove_prefix(crc32_digits + 1);
    const std::size_t digits = std::min(name.find('_'), name.size());
    if (digits == 0 || digits > most_digits || digits + 1 >= name.size()) return false;
    std::uint64_t size = 0;
    for (const char digit : name.substr(0, digits)) {
        if (digit < '0' || digit > '9') return false;
        size = 10 * size + static_cast<std::uint64_t>(digit - '0');
    }
    if (std::to_string(size).size() != digits) return false;  // leading zeros
    return is_partial ? bytes <= size : bytes == size;
}

}  // namespace

ObjectCache::ObjectCache(fs::path folder, std::uint64_t limit_bytes, std::size_t threads)
    : folder_(std::move(folder), is_cache_file), limit_bytes_(limit_bytes) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

ObjectCache::~ObjectCache() {
    for (std::jthread& thread : threads_) thread.request_stop();
}

std::size_t ObjectCache::add(CachedObject object) {
    const std::lock_guard lock(mutex_);
    std::string file = file_name(object);
    entries_.push_back({std::move(object), std::move(file)});
    return entries_.size() - 1;
}

void ObjectCache::set_uses(std::size_t user, const std::vector<Use>& uses) {
    const std::lock_guard lock(mutex_);
    uses_[user] = uses;
    std::vector<Use> all;
    for (const auto& [of_user, list] : uses_) all.insert(all.end(), list.begin(), list.end());
    std::stable_sort(all.begin(), all.end(), [](const Use& a, const Use& b) { return a.when < b.when; });
    wanted_.clear();
    next_use_.clear();
    std::uint64_t bytes = 0;
    for (const Use& use : all) {
        const Entry& entry = entries_.at(use.object);
        if (!next_use_.emplace(entry.file, use.when).second) continue;
        bytes += entry.object.bytes;
        if (bytes <= limit_bytes_) wanted_.push_back(use.object);
        else bytes = std::numeric_limits<std::uint64_t>::max() / 2;  // those after the first that does not fit are not wanted
    }
    changed_.notify_all();
}

bool ObjectCache::hold(std::size_t user, std::span<const std::size_t> objects, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    auto& held = held_[user];
    std::erase_if(held, [&](const auto& one) { return std::find(objects.begin(), objects.end(), one.first) == objects.end(); });
    struct Wait {  // ends with this call, also by an exception
        std::map<std::size_t, std::set<std::size_t>>& all;
        std::size_t of_user;
        ~Wait() { all.erase(of_user); }
    } const wait{awaited_, user};
    awaited_[user] = {objects.begin(), objects.end()};
    for (const std::size_t object : objects) {
        while (!held.contains(object)) {
            if (entries_[object].is_verified) {
                if (auto file = folder_.hold(entries_[object].file)) held.emplace(object, std::move(*file));
                else entries_[object].is_verified = false;  // another process has evicted it
                continue;
            }
            if (entries_[object].failure) std::rethrow_exception(std::exchange(entries_[object].failure, nullptr));
            if (stop.stop_requested()) return false;
            changed_.notify_all();
            changed_.wait_for(lock, stop, look_again,
                              [&] { return entries_[object].is_verified || entries_[object].failure != nullptr; });
        }
    }
    return true;
}

std::optional<fs::path> ObjectCache::find(std::size_t object) {
    const std::lock_guard lock(mutex_);
    const Entry& entry = entries_.at(object);
    if (!entry.is_verified || !is_here(entry)) return std::nullopt;
    return folder_.path_of(entry.file);
}

bool ObjectCache::is_awaited(std::size_t object) const {
    return std::ranges::any_of(awaited_, [&](const auto& wait) { return wait.second.contains(object); });
}

bool ObjectCache::is_here(const Entry& entry) const { return fs::exists(folder_.path_of(entry.file)); }

std::optional<std::size_t> ObjectCache::next_task() {
    const auto is_task = [&](std::size_t object) {
        const Entry& entry = entries_[object];
        return !entry.is_in_work && !entry.failure && !entry.is_verified;
    };
    for (const auto& [user, objects] : awaited_)
        for (const std::size_t object : objects)
            if (is_task(object)) return object;
    for (const std::size_t object : wanted_)
        if (is_task(object)) return object;
    return std::nullopt;
}

void ObjectCache::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        const auto object = next_task();
        if (object) bring(*object, stop, lock);
        else changed_.wait_for(lock, stop, std::chrono::seconds(1), [&] { return next_task().has_value(); });
    }
}

/// Verifies or fetches one object.
void ObjectCache::bring(std::size_t object, const std::stop_token& stop, std::unique_lock<std::mutex>& lock) {
    entries_[object].is_in_work = true;
    const Entry entry = entries_[object];  // without the lock, entries_ may grow
    std::optional<bool> done;
    std::exception_ptr failure;
    bool was_fetched = false;
    try {
        if (is_here(entry)) {
            lock.unlock();
            done = verify(entry);
        } else if (make_room(is_awaited(object))) {
            lock.unlock();
            done = fetch(entry, stop);
            was_fetched = done == true;
        }
    } catch (const std::exception&) { failure = std::current_exception(); }
    if (!lock.owns_lock()) lock.lock();
    Entry& now = entries_[object];
    now.is_in_work = false;
    if (failure && !stop.stop_requested()) now.failure = failure;
    if (done) now.is_verified = *done;
    if (was_fetched) ++fetched_;
    if (done == false && ++now.wrong >= most_attempts)
        now.failure = std::make_exception_ptr(
            DataError(concat((entry.object.store->folder() / entry.object.name).text(), ": the bytes are wrong in ", now.wrong,
                             " downloads: their checksum is not ", entry.object.crc32, ", which the manifest says",
                             "\n  do: copy this shard into the store again")));
    changed_.notify_all();
    if (!done && !failure) changed_.wait_for(lock, stop, look_again, [] { return false; });
}

/// @returns whether the file that is here has the right content, and deletes it otherwise; nullopt if it was just evicted
std::optional<bool> ObjectCache::verify(const Entry& entry) const {
    const auto held = folder_.hold(entry.file);
    if (!held) return std::nullopt;
    const fs::path file = folder_.path_of(entry.file);
    if (fs::file_size(file) == entry.object.bytes && crc32_of_file(file) == entry.object.crc32) return true;
    log_warning(concat(file.string(), ": the copy is damaged; it will be fetched again"));
    folder_.discard(entry.file, *held);
    return false;
}

std::optional<bool> ObjectCache::fetch(const Entry& entry, const std::stop_token& stop) const {
    return folder_.fetch(entry.file, [&](const fs::path& partial) {
        const CachedObject& object = entry.object;
        object.store->download(object.name, partial, object.bytes, stop);
        if (crc32_of_file(partial) == object.crc32) return true;
        log_warning(concat((object.store->folder() / object.name).text(), ": wrong bytes were received; fetching it again"));
        return false;
    });
}

/// Evicts what is needed last. @returns whether the objects in work fit
bool ObjectCache::make_room(bool is_awaited) {
    std::vector<CacheFolder::Entry> files = folder_.entries();
    std::set<std::string> kept;
    for (const std::size_t object : wanted_) kept.insert(entries_[object].file);
    for (const auto& [user, objects] : awaited_)
        for (const std::size_t object : objects) kept.insert(entries_[object].file);
    std::uint64_t total = 0;
    for (const Entry& entry : entries_)  // what is being fetched will take its whole size
        if (entry.is_in_work && !is_here(entry)) {
            total += entry.object.bytes;
            std::erase_if(files, [&](const CacheFolder::Entry& file) { return file.name == concat(entry.file, partial_ending); });
        }
    for (const CacheFolder::Entry& file : files) total += file.bytes;
    const auto when = [&](const CacheFolder::Entry& file) {
        const auto found = next_use_.find(file.name);
        return found == next_use_.end() ? std::numeric_limits<double>::infinity() : found->second;
    };
    std::sort(files.begin(), files.end(),
              [&](const auto& a, const auto& b) { return std::pair(-when(a), a.last_use) < std::pair(-when(b), b.last_use); });
    for (const CacheFolder::Entry& file : files) {
        if (total <= limit_bytes_) break;
        const bool is_partial = file.name.ends_with(partial_ending);
        const std::string whole = file.name.substr(0, file.name.size() - (is_partial ? partial_ending.size() : 0));
        if (kept.contains(whole) || !folder_.remove(file.name)) continue;
        total -= file.bytes;
        forget(file.name);
    }
    return total <= limit_bytes_ || is_awaited;
}

/// Notes that a file was evicted.
void ObjectCache::forget(const std::string& file) {
    for (Entry& entry : entries_)
        if (entry.file == file) entry.is_verified = false;
}

}  // namespace bertpretrain
