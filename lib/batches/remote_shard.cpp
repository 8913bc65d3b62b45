#include "batches/remote_shard.h"

#include "core/error.h"

namespace bertpretrain {
namespace {

void require_shape(const ShardReader& reader, const std::string& name, const ShardShape& expected) {
    const auto refuse = [&](const std::string& found, const std::string& wanted) {
        throw DataError(concat(name, ": has ", found, ", expected ", wanted, ", as the largest shard of its folder has",
                               "\n  do: keep shards of different kinds in folders of their own (data.training_shards takes ",
                               "several), or train from a local copy"));
    };
    if (reader.band_rows() != expected.band_rows)
        refuse(concat("chunks of ", reader.band_rows(), " rows"), concat("chunks of ", expected.band_rows));
    if (reader.sequence_length() != expected.sequence_length)
        refuse(concat("rows of ", reader.sequence_length(), " tokens"), concat("rows of ", expected.sequence_length));
    if (reader.max_predictions() > expected.max_predictions)
        refuse(concat("up to ", reader.max_predictions(), " masked positions per row"),
               concat("at most ", expected.max_predictions));
    if (expected.needs_labels && !reader.has_labels()) refuse("no next_sentence_labels", "them for data.objective = \"mlm_nsp\"");
}

}  // namespace

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
    if (expected_) require_shape(*opened, name, *expected_);
    identity_ = identity;
    reader_ = std::move(opened);
    return reader_;
}

}  // namespace bertpretrain
