#pragma once
// Builds the batch of any step.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "batches/band_cache.h"
#include "batches/micro_batch.h"
#include "batches/row_lengths.h"
#include "batches/sample_order.h"
#include "batches/shard_files.h"
#include "shards/dynamic_masking.h"

namespace bertpretrain {

struct BatchLoaderSettings {
    std::uint64_t seed = 0;
    std::int64_t global_batch_sequences = 0;  ///< sequences of a step, over all micro-batches and ranks
    std::int64_t micro_batch_size = 0;        ///< sequences of a micro-batch; the last one of a step may have fewer
    RowFormat format;
    std::int64_t rank = 0, world_size = 1;
    at::Device device = at::Device(at::DeviceType::CPU);
    std::int64_t prefetch_steps = 3;  ///< steps built ahead
    std::int64_t window_rows = SampleOrder::default_window_rows;
    std::int64_t cache_bytes = 0;           ///< memory limit for decompressed bands; 0: twice the largest window
    std::size_t threads = 1;                ///< for verifying, reading and decompressing
    std::optional<DynamicMasking> masking;  ///< nothing: the stored masks are used
};

/// Row indices, ascending, by file.
using RowsByFile = std::map<std::filesystem::path, std::vector<std::int64_t>>;

/// A rank's part of a step, as a function of the step's number. Step k (the first is 1) has samples [(k - 1) G, k G) of the run,
/// where G = global_batch_sequences. Each of W ranks reads about 1/W of the data, because samples are assigned by band: sorted by
/// the band's place in its window, they are cut into W parts with equal numbers of tokens (within half a sample). Rank r gets
/// part r, in the order of the samples' numbers.
///
/// Consecutive steps are cheap: each also reads its share of the next window's bands, so that no step has to read a whole window.
/// Any other step reads the bands that it needs. Not thread-safe.
class StepSource {
public:
    /// @throws ConfigError when a step has fewer sequences than there are ranks, or sequences are longer than the model allows
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    StepSource(const std::vector<std::filesystem::path>& files, const BatchLoaderSettings& settings);

    /// Builds this rank's micro-batches of a step in host memory, pinned where the device is a GPU (build_batch). Counts are of
    /// this rank. After a stop request it returns early with an incomplete batch. @throws DataError
    GlobalBatch make(std::int64_t step, const std::stop_token& stop = {});

    /// Applies to the following calls of make(). The samples of a step stay the same.
    void set_micro_batch_size(std::int64_t sequences) { settings_.micro_batch_size = sequences; }

    /// Returns where the samples of a step, of all ranks, are stored. Thread-safe, unlike all other members.
    RowsByFile rows_by_file(std::int64_t step) const;

    std::int64_t rows_per_epoch() const { return order_.rows_per_epoch(); }
    /// Equal for equal samples in equal order (SampleOrder::fingerprint). Depends on every shard's checksum.
    std::string fingerprint() const { return order_.fingerprint(); }
    /// fingerprint() without the checksums of shards that no manifest records, as older checkpoints hold it.
    std::string earlier_fingerprint() const;
    const BandCache& cache() const { return cache_; }
    const RowLengths& lengths() const { return lengths_; }

private:
    struct Sample {
        std::int64_t number = 0;
        SamplePlace place;
    };
    std::vector<Sample> samples_of(std::int64_t step);
    std::vector<Sample> own_part(const std::vector<Sample>& by_band);
    ShardRows rows_of(const std::vector<Sample>& samples, const std::stop_token& stop);
    void look_ahead(std::int64_t last_sample, const std::stop_token& stop);

    BatchLoaderSettings settings_;
    std::vector<ShardFile> shards_;
    std::int64_t max_predictions_ = 0;  ///< of all shards
    SampleOrder order_;
    SampleOrder order_ahead_;                ///< the same order, positioned in the next window
    SampleWindow window_;                    ///< the window of the last step's last sample
    std::vector<NumberedBand> bands_ahead_;  ///< this rank's bands of the following window
    BandCache cache_;
    RowLengths lengths_;  ///< of all ranks' bands; unused with one rank
};

}  // namespace bertpretrain
