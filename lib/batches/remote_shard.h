#pragma once
// A shard of an object store, read from the cache.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/files/random_access_file.h"
#include "shards/remote_folder.h"
#include "shards/shard_reader.h"

namespace bertpretrain {

/// What all shards of a folder have in common. Only one of them is opened before a run begins.
struct ShardShape {
    std::int64_t band_rows = 0, sequence_length = 0, max_predictions = 0;
    bool needs_labels = false;  ///< whether the model predicts next sentences
};

/// Opens the shard's file where the cache has it, each time that it has been fetched. Thread-safe.
class RemoteShard {
public:
    RemoteShard(std::shared_ptr<ObjectCache> cache, RemoteShardRecord shard)
        : cache_(std::move(cache)), shard_(std::move(shard)) {}

    const RemoteShardRecord& shard() const { return shard_; }
    /// Returns a reader of the file. @throws DataError when the file is not in the cache, its rows differ from the manifest's, or
    /// its shape from the expected one
    std::shared_ptr<const ShardReader> reader();
    /// From now on reader() requires bands of so many rows, on which the order of samples depends, rows of this length, at most
    /// so many masked positions, and labels if they are needed.
    void expect(const ShardShape& shape) { expected_ = shape; }

private:
    std::shared_ptr<ObjectCache> cache_;
    RemoteShardRecord shard_;
    std::optional<ShardShape> expected_;
    std::mutex mutex_;  ///< protects the following
    FileIdentity identity_;
    std::shared_ptr<const ShardReader> reader_;
};

}  // namespace bertpretrain
