#pragma once
// The shard files of a run, verified before the first step.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "batches/remote_shard.h"
#include "shards/shard_reader.h"

namespace bertpretrain {

/// What the model expects of every row.
struct RowFormat {
    std::int64_t sequence_length = 0;          ///< data.sequence_length
    std::int64_t max_position_embeddings = 0;  ///< of the model
    std::int64_t vocab_size = 0;               ///< of the model
    bool needs_labels = true;                  ///< whether the model predicts next sentences
    /// The id of [SEP], if attention stays inside each document of a row (unpadded_samples); else attention spans the row.
    std::optional<std::int32_t> document_end{};

    bool operator==(const RowFormat&) const = default;
};

/// A shard file and its properties when the run began.
struct ShardFile {
    std::filesystem::path file;
    std::int64_t rows = 0, band_rows = 0, max_predictions = 0;
    std::int64_t crc32 = 0;                     ///< of its bytes
    bool is_in_manifest = false;                ///< whether the folder's manifest records it
    std::shared_ptr<const ShardReader> reader;  ///< of a local file
    std::shared_ptr<RemoteShard> remote;        ///< of a shard in a store; else null

    /// Returns the reader of the file; of a shard in a store, as RemoteShard::reader().
    std::shared_ptr<const ShardReader> opened() const { return remote ? remote->reader() : reader; }
};

/// Verifies (verify_shards) and opens every file. The result is sorted by file name, without the folder.
/// @param threads files verified at once
/// @throws ConfigError when the model has fewer positions than a sequence
/// @throws DataError when there are no files, or one cannot be read, has rows of another length or
/// without the labels that the model needs, or differs from its manifest
std::vector<ShardFile> survey_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format,
                                     std::size_t threads = 1);

/// The same for shards of one folder in a store, whose properties come from the manifest. Waits for the largest shard, and opens
/// it only: the others must have the same shape (ShardShape). Each is verified when it has been fetched.
/// @param user the source's number in the cache  @param files from find_shards_anywhere()
std::vector<ShardFile> survey_remote_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format,
                                            const std::shared_ptr<ObjectCache>& cache, const std::filesystem::path& cache_folder,
                                            std::size_t user);

/// Returns rows [first, first + count) and checks every value.
/// @throws DataError with file, row and value; also when the file has changed since survey_shards()
ShardRows read_checked_rows(const ShardFile& shard, std::int64_t first, std::int64_t count, const RowFormat& format,
                            std::size_t threads = 1);

}  // namespace bertpretrain
