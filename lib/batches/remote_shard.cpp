#include "batches/remote_shard.h"

#include "core/error.h"

namespace bertpretrain {

std::shared_ptr<const ShardReader> RemoteShard::reader() {
    const std::string name = shard_.file.string();
    const auto file = cache_->find(shard_.object);
    if (!file) throw DataError(concat(name, ": is not in the cache at the moment"));
    const std::lock_guard lock(mutex_);
    const FileIdentity identity = RandomAccessFile(*file).identity();
    if (reader_ && identity == identity_) return reader_;
    auto opened = std::make_shared<const ShardReader>(*file, shard_.record.crc32);
    if (opened->rows() != shard_.record.rows)
        throw DataError(concat(name, ": holds ", opened->rows(), " rows, expected ", shard_.record.rows, " (its manifest)",
                               "\n  do: copy the whole folder into the store again"));
    if (band_rows_ > 0 && opened->band_rows() != band_rows_)
        throw DataError(concat(name, ": has chunks of ", opened->band_rows(), " rows, expected ", band_rows_,
                               ", as the largest shard of its folder has",
                               "\n  do: train from a local copy, or rewrite the shards with equal chunks"));
    identity_ = identity;
    reader_ = std::move(opened);
    return reader_;
}

}  // namespace bertpretrain
