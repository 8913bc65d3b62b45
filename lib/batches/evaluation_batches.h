#pragma once
// Held-out samples, in the order of the files.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "batches/micro_batch.h"
#include "batches/shard_files.h"

namespace bertpretrain {

struct EvaluationSettings {
    RowFormat format;
    std::int64_t micro_batch_size = 0;
    std::int64_t max_sequences = 0;  ///< of all ranks; 0: all there are
    std::int64_t rank = 0, world_size = 1;
    at::Device device = at::Device(at::DeviceType::CPU);
    std::size_t threads = 1;  ///< that verify and read
};

/// Goes once through the rows of some shards, or through the first rows of each, `max_sequences` in all, each shard in
/// proportion to its size. Ranks share them in contiguous parts whose sizes differ by at most one.
class EvaluationBatches {
public:
    /// @throws ConfigError when sequences are longer than the model allows
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    EvaluationBatches(const std::vector<std::filesystem::path>& files, const EvaluationSettings& settings);

    /// The next micro-batch on the settings' device; all but the last have micro_batch_size sequences. Nothing at the end.
    /// A sample's number is its place among all ranks' samples. @throws DataError naming file and row
    std::optional<MicroBatch> next();

    /// Reads and checks every sample of this rank once, so that a damaged shard ends a run before it begins.
    /// @throws DataError naming file and row
    void verify();

    /// Goes back to the beginning.
    void rewind() { position_ = begin_; }

    /// Sequences of all ranks, and of this one.
    std::int64_t total_sequences() const { return samples_before_.back(); }
    std::int64_t sequences() const { return end_ - begin_; }
    /// Equal where the same rows of the same shards are meant.
    std::string fingerprint() const;
    /// Micro-batches of the rank that has the fewest.
    std::int64_t fewest_batches() const;

private:
    /// Makes the band with this sample the current one. @returns the sample's row in it
    std::int64_t enter_band_of(std::int64_t sample);

    EvaluationSettings settings_;
    std::vector<ShardFile> shards_;
    std::vector<std::int64_t> samples_before_;  ///< samples in shards before each; one more at the end
    std::int64_t max_predictions_ = 0;          ///< of all shards
    std::int64_t begin_ = 0, end_ = 0, position_ = 0;
    std::int64_t band_begin_ = 0, band_end_ = 0;  ///< samples of the current band
    ShardRows band_;
};

}  // namespace bertpretrain
