#include "shards/remote_folder.h"

#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include <unistd.h>

#include "core/environment.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/threads/threads.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t threads_for_copies = 8;

ObjectUrl url_of(const fs::path& folder) { return parse_object_url(folder.string(), "a folder of shards"); }

/// Where the copies of a store's folder lie.
fs::path copies_of(const fs::path& folder, const fs::path& cache) {
    constexpr std::size_t digits = 16;
    return cache / "folders" / hexadecimal(sha256(url_of(folder).text())).substr(0, digits);
}

/// The copies of a store's folder. Its name is a digest of the store's address, so no file in it can be the user's.
CacheFolder open_copies(const fs::path& folder, const fs::path& cache) {
    return CacheFolder(copies_of(folder, cache), [](std::string_view, std::uint64_t) { return true; });
}

/// @param copies with the manifest, which another program may have deleted  @throws DataError
Manifest manifest_of(const fs::path& copies) {
    std::optional<Manifest> manifest = read_manifest(copies);
    if (!manifest)
        throw DataError(concat((copies / manifest_name).string(), ": is missing; it was copied there a moment ago",
                               "\n  do: let no other program delete files there, or name another folder (data.cache_folder)"));
    return std::move(*manifest);
}

/// Makes a file of the copies right; one with other content is replaced. @param fill completes the partial file in place
void bring(const CacheFolder& copies, const std::string& name, const std::string& source,
           const std::function<bool(const fs::path&)>& is_right, const std::function<void(const fs::path&)>& fill) {
    const fs::path file = copies.path_of(name);
    for (int wrong = 0; wrong < ObjectCache::most_attempts;) {
        if (fs::exists(file) && is_right(file)) return;
        const auto complete = [&](const fs::path& partial) {
            fill(partial);
            return is_right(partial);
        };
        const std::optional<bool> done = copies.fetch(name, complete, is_right);
        if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // another process fetches it
        if (done == false) ++wrong;
    }
    throw DataError(concat(source, ": wrong bytes were received ", ObjectCache::most_attempts, " times",
                           "\n  do: copy this file into the store again"));
}

void bring_text(const CacheFolder& copies, const std::string& name, const std::string& source, const std::string& content) {
    bring(
        copies, name, source, [&](const fs::path& file) { return read_file(file) == content; },
        [&](const fs::path& partial) {
            std::ofstream out(partial, std::ios::binary | std::ios::trunc);
            if (!(out << content << std::flush)) throw DataError(failed_write(partial, errno));
        });
}

void bring_shard(const CacheFolder& copies, ObjectStore& store, const ShardRecord& record) {
    const auto bytes = static_cast<std::uint64_t>(record.bytes);
    bring(
        copies, record.file, (store.folder() / record.file).text(),
        [&](const fs::path& file) {
            std::error_code gone;
            return fs::file_size(file, gone) == bytes && crc32_of_file(file) == static_cast<std::uint32_t>(record.crc32);
        },
        [&](const fs::path& partial) { store.download(record.file, partial, bytes); });
}

/// @param copies with the manifest  @throws DataError when it lists no such shards
std::vector<ShardRecord> records_of(const fs::path& copies, const fs::path& folder, ShardKind kind) {
    std::vector<ShardRecord> records = manifest_of(copies).shards;
    std::erase_if(records, [&](const ShardRecord& record) { return shard_kind(record.file) != kind; });
    if (records.empty())
        throw DataError(concat(folder.string(), ": its manifest lists no ", kind == ShardKind::training ? "training" : "held-out",
                               " shards", kind == ShardKind::training ? "\n  do: name another folder" : advice_without_held_out));
    return records;
}

std::vector<fs::path> paths_of(const std::vector<ShardRecord>& records, const fs::path& folder) {
    std::vector<fs::path> files;
    for (const ShardRecord& record : records) files.push_back(folder / record.file);
    return files;
}

}  // namespace

fs::path shard_cache_folder(const std::optional<std::string>& setting) {
    if (setting) return *setting;
    return fs::path(environment_variable("TMPDIR").value_or("/tmp")) / concat("bertpretrain_cache_", ::geteuid());
}

fs::path local_shard_folder(const fs::path& folder, const fs::path& cache) {
    if (!is_object_url(folder.string())) return folder;
    ObjectStore store(url_of(folder));
    const std::string where = (store.folder() / manifest_name).text();
    const std::optional<std::string> content = store.read(manifest_name);
    if (!content)
        throw DataError(
            concat(where, ": does not exist; shards in an object store need their manifest, which has their checksums",
                   "\n  do: make the shards with `bertpretrain_data shard`, and copy the whole folder into the store"));
    const CacheFolder copies = open_copies(folder, cache);
    bring_text(copies, manifest_name, where, *content);
    const Manifest manifest = manifest_of(copies.path());
    for (const ShardRecord& record : manifest.shards)
        if (record.bytes == 0)
            throw DataError(concat(where, ": records no size of ", record.file, ", as manifests of older versions",
                                   "\n  do: make the shards again, or train from a local folder"));
    const std::string& vocabulary = manifest.vocabulary.file;
    if (const auto text = store.read(vocabulary)) bring_text(copies, vocabulary, (store.folder() / vocabulary).text(), *text);
    return copies.path();
}

std::vector<fs::path> copied_shards(const fs::path& folder, ShardKind kind, const fs::path& cache) {
    if (!is_object_url(folder.string())) return find_shards(folder, kind);
    local_shard_folder(folder, cache);
    const CacheFolder copies = open_copies(folder, cache);
    const std::vector<ShardRecord> records = records_of(copies.path(), folder, kind);
    ObjectStore store(url_of(folder));
    for_each_index(records.size(), threads_for_copies, [&](std::size_t i) { bring_shard(copies, store, records[i]); });
    return paths_of(records, copies.path());
}

std::vector<fs::path> find_shards_anywhere(const fs::path& folder, ShardKind kind, const fs::path& cache) {
    if (!is_object_url(folder.string()) || kind != ShardKind::training) return copied_shards(folder, kind, cache);
    return paths_of(records_of(local_shard_folder(folder, cache), folder, kind), folder);
}

std::vector<ShardRecord> remote_records(const std::vector<fs::path>& files, const fs::path& cache_folder) {
    const Manifest manifest = manifest_of(copies_of(files.front().parent_path(), cache_folder));
    std::vector<ShardRecord> records;
    for (const fs::path& file : files) {
        const ShardRecord* record = manifest.find(file.filename().string());
        check(record != nullptr, file.string(), " is not in its manifest");
        records.push_back(*record);
    }
    return records;
}

std::vector<RemoteShardRecord> open_remote_shards(const std::vector<fs::path>& files, ObjectCache& cache,
                                                  const fs::path& cache_folder) {
    const fs::path folder = files.front().parent_path();
    const auto store = std::make_shared<ObjectStore>(url_of(folder));
    std::vector<RemoteShardRecord> shards;
    for (ShardRecord& record : remote_records(files, cache_folder)) {
        const std::size_t object =
            cache.add({store, record.file, static_cast<std::uint64_t>(record.bytes), static_cast<std::uint32_t>(record.crc32)});
        const fs::path file = folder / record.file;
        shards.push_back({file, std::move(record), object});
    }
    return shards;
}

}  // namespace bertpretrain
