#pragma once
// Micro-batches of held-out samples, source by source.

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

/// The shards of one source, or all shards of an evaluation without sources.
struct EvaluationSource {
    std::string name;  ///< empty without sources
    std::vector<std::filesystem::path> files;
};

struct EvaluationSettings {
    RowFormat format;
    std::int64_t micro_batch_size = 0;
    std::int64_t max_sequences = 0;  ///< over all ranks; 0: no limit
    std::int64_t rank = 0, world_size = 1;
    at::Device device = at::Device(at::DeviceType::CPU);
    std::size_t threads = 1;  ///< for verifying and reading
};

/// One pass over the rows of some shards: source by source, and within a source by the files' names. With `max_sequences`, over
/// the first rows of each shard, in proportion to its size. Each rank gets a contiguous part; the parts' sizes differ by at most
/// one.
class EvaluationBatches {
public:
    /// @throws ConfigError when sequences are longer than the model allows
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    EvaluationBatches(const std::vector<EvaluationSource>& sources, const EvaluationSettings& settings);

    /// Returns the next micro-batch on the settings' device, or nothing at the end. All but the last have micro_batch_size
    /// sequences. A sample's number is its index among all ranks' samples. With several sources, the micro-batch has its
    /// source_parts. @throws DataError with file and row
    std::optional<MicroBatch> next();

    /// Reads and checks every sample of this rank, so that a damaged shard is found before training begins.
    /// @throws DataError with file and row
    void verify();

    /// Goes back to the beginning.
    void rewind() { position_ = begin_; }

    /// Sequences of all ranks; below, of this rank.
    std::int64_t total_sequences() const { return samples_before_.back(); }
    std::int64_t sequences() const { return end_ - begin_; }
    /// Equal for the same rows of the same shards.
    std::string fingerprint() const;
    /// The names of the sources: at least one.
    const std::vector<std::string>& source_names() const { return source_names_; }
    /// Number of micro-batches of the rank with the fewest.
    std::int64_t fewest_batches() const;

private:
    /// Index of the shard that a sample is in.
    std::size_t shard_of(std::int64_t sample) const;
    /// Reads the band that holds the sample, if it is not the current one. @returns the sample's row in the band
    std::int64_t enter_band_of(std::int64_t sample);

    EvaluationSettings settings_;
    std::vector<std::string> source_names_;
    std::vector<ShardFile> shards_;
    std::vector<std::size_t> source_of_shard_;
    std::vector<std::int64_t> samples_before_;  ///< samples in shards before each; one more at the end
    std::int64_t begin_ = 0, end_ = 0, position_ = 0;
    std::int64_t band_begin_ = 0, band_end_ = 0;  ///< samples of the current band
    ShardRows band_;
};

}  // namespace bertpretrain
