#pragma once
// Folders of shards in an object store. Their small files are copied to the local disk; training shards go through a cache.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shards/manifest.h"
#include "storage/object_cache.h"

namespace bertpretrain {

/// Returns the folder for copies: `setting`, or bertpretrain_cache_UID in TMPDIR or /tmp.
std::filesystem::path shard_cache_folder(const std::optional<std::string>& setting);

/// Returns `folder` itself if it is local. Else copies the manifest and the vocabulary of a folder in an object store, where the
/// copy is missing or differs, and returns the folder of the copies. Processes of one host may do so at the same time.
/// @param cache from shard_cache_folder()
/// @throws DataError when the store's folder has no manifest, or one without the shards' sizes
/// @throws ConfigError or DistributedError as ObjectStore
std::filesystem::path local_shard_folder(const std::filesystem::path& folder, const std::filesystem::path& cache);

/// find_shards() of the kind, for folders of both sorts. The shards of a store are copied whole and verified.
std::vector<std::filesystem::path> copied_shards(const std::filesystem::path& folder, ShardKind kind,
                                                 const std::filesystem::path& cache);

/// As copied_shards(), but training shards of a store are only named (FOLDER/NAME), as open_remote_shards() expects them.
std::vector<std::filesystem::path> find_shards_anywhere(const std::filesystem::path& folder, ShardKind kind,
                                                        const std::filesystem::path& cache);

/// Returns what the manifest records of shards of one store's folder. @param files from find_shards_anywhere()
std::vector<ShardRecord> remote_records(const std::vector<std::filesystem::path>& files,
                                        const std::filesystem::path& cache_folder);

/// A shard in a store.
struct RemoteShardRecord {
    std::filesystem::path file;  ///< FOLDER/NAME
    ShardRecord record;
    std::size_t object = 0;  ///< its index in the cache
};

/// Adds shards of one store's folder to a cache. @param files from find_shards_anywhere()
std::vector<RemoteShardRecord> open_remote_shards(const std::vector<std::filesystem::path>& files, ObjectCache& cache,
                                                  const std::filesystem::path& cache_folder);

}  // namespace bertpretrain
