#pragma once
// A shard of an object store, read from the cache.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "core/random_access_file.h"
#include "shards/remote_folder.h"
#include "shards/shard_reader.h"

namespace bertpretrain {

/// Opens the shard's file where the cache has it, each time that it has been fetched. Thread-safe.
class RemoteShard {
public:
    RemoteShard(std::shared_ptr<ObjectCache> cache, RemoteShardRecord shard)
        : cache_(std::move(cache)), shard_(std::move(shard)) {}

    const RemoteShardRecord& shard() const { return shard_; }
    /// Returns a reader of the file. @throws DataError when the file is not in the cache, or its rows differ from the manifest's
    std::shared_ptr<const ShardReader> reader();
    /// From now on reader() requires bands of so many rows, on which the order of samples depends.
    void expect_band_rows(std::int64_t rows) { band_rows_ = rows; }

private:
    std::shared_ptr<ObjectCache> cache_;
    RemoteShardRecord shard_;
    std::int64_t band_rows_ = 0;
    std::mutex mutex_;  ///< protects the following
    FileIdentity identity_;
    std::shared_ptr<const ShardReader> reader_;
};

}  // namespace bertpretrain
