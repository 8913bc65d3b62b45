#pragma once
// Reads rows of a shard file, for training, evaluation and checks.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "shards/shard_rows.h"

namespace bertpretrain {

/// A shard (`.h5` or `.hdf5`) with a checked layout. Datasets of little-endian integers, plain or gzip-compressed (with or
/// without shuffle), are read directly from the file's chunks. The HDF5 library reads all other datasets, one caller at a time.
/// Keeps no file open. Thread-safe.
class ShardReader {
public:
    /// Checks the layout, not the rows. Call verify_shards() (shard_verification.h) first for files of unknown origin.
    /// @param crc32 checksum of the file. With it, read() accepts the same content under another inode, device or time (after a
    /// remount or a copy). Without it, read() refuses such a file.
    /// @throws DataError naming the file, the dataset, what was found and what was expected
    explicit ShardReader(const std::filesystem::path& file, std::optional<std::int64_t> crc32 = std::nullopt);
    ~ShardReader();
    ShardReader(ShardReader&&) noexcept;
    ShardReader& operator=(ShardReader&&) noexcept;

    const std::filesystem::path& file() const;
    std::int64_t rows() const;
    std::int64_t sequence_length() const;
    std::int64_t max_predictions() const;
    /// Returns whether rows have labels of next sentences. Shards for masked words alone lack that dataset.
    bool has_labels() const;
    /// Returns the cheapest number of rows to read at once: the height of the tallest chunk of a 2-D dataset, at most rows().
    std::int64_t band_rows() const;

    /// Which datasets to read. The others stay empty.
    enum class Part { everything, input_mask };

    /// Returns rows [first, first + count), unchecked (see check_rows). Besides the rows, needs about 4 MiB per thread, or one
    /// chunk and its stored bytes if that is more.
    /// @throws DataError if the file cannot be read, is damaged, or has changed since the constructor opened it
    ShardRows read(std::int64_t first, std::int64_t count, std::size_t threads = 1, Part part = Part::everything) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bertpretrain
