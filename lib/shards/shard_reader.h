#pragma once
// Rows of a shard file, for training, evaluation and checking.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace bertpretrain {

/// Samples as the shard stores them. R rows, S sequence length, P masked positions at most.
struct ShardRows {
    std::int64_t rows = 0, sequence_length = 0, max_predictions = 0;
    std::vector<std::int32_t> input_ids_RS;            ///< token ids, 0 after the last token
    std::vector<std::int8_t> input_mask_RS;            ///< 1 where there is a token; ones come first
    std::vector<std::int8_t> segment_ids_RS;           ///< 0 first segment, 1 second
    std::vector<std::int32_t> masked_lm_positions_RP;  ///< ascending; the first 0 ends the list
    std::vector<std::int32_t> masked_lm_ids_RP;        ///< the original ids at those positions
    std::vector<std::int8_t> next_sentence_labels_R;   ///< 1: the second segment is a random one
};

/// A shard (`.h5` or `.hdf5`) whose layout is known: reading goes past the HDF5 library to the file's chunks, wherever they are
/// plain or gzip (perhaps shuffled) little-endian integers; what else it may hold, the library reads, one caller at a time.
/// Keeps no file open. May be used from several threads at once.
class ShardReader {
public:
    /// Checks the layout, not the rows. Files of unknown origin first go through verify_shards() (shard_verification.h).
    /// @param crc32 of the file's bytes: by it read() recognizes the file where its inode, device or time changed (a file system
    /// that was mounted again, a copy); without it such a file is refused
    /// @throws DataError naming the file, the dataset, what was found and what was expected
    explicit ShardReader(const std::filesystem::path& file, std::optional<std::int64_t> crc32 = std::nullopt);
    ~ShardReader();
    ShardReader(ShardReader&&) noexcept;
    ShardReader& operator=(ShardReader&&) noexcept;

    const std::filesystem::path& file() const;
    std::int64_t rows() const;
    std::int64_t sequence_length() const;
    std::int64_t max_predictions() const;
    /// Rows that are cheapest read together: the tallest chunk of the two-dimensional datasets, at most rows().
    std::int64_t band_rows() const;

    /// What is read of a row; all else stays empty.
    enum class Part { everything, input_mask };

    /// Rows [first, first + count). Takes the memory of the rows, and for each thread about 4 MiB (or one chunk and its
    /// stored bytes, where that is more).
    /// @throws DataError when the file cannot be read, is damaged, or has other bytes than the one that was opened
    ShardRows read(std::int64_t first, std::int64_t count, std::size_t threads = 1, Part part = Part::everything) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bertpretrain
