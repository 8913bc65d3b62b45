#pragma once
// The samples of any step, made on the spot.

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
    std::int64_t global_batch_sequences = 0;  ///< of one step, over all micro-batches and ranks
    std::int64_t micro_batch_size = 0;        ///< sequences of a micro-batch; the last of a step may have fewer
    RowFormat format;
    std::int64_t rank = 0, world_size = 1;
    at::Device device = at::Device(at::DeviceType::CPU);
    std::int64_t prefetch_steps = 3;  ///< steps made ahead
    std::int64_t window_rows = SampleOrder::default_window_rows;
    std::int64_t cache_bytes = 0;           ///< most memory for inflated bands; 0: what the two largest windows take
    std::size_t threads = 1;                ///< that verify, read and inflate
    std::optional<DynamicMasking> masking;  ///< nothing: rows are used as they are stored
};

/// Numbers of rows, ascending, by the file that they are in.
using RowsByFile = std::map<std::filesystem::path, std::vector<std::int64_t>>;

/// A rank's part of any step, as a function of the step. Step k (the first is 1) takes samples [(k - 1) G, k G) of the run,
/// G = global_batch_sequences. They are dealt out by bands, so that each rank reads about 1/W of the data: sorted by the band's
/// place in its window, rank r gets the r-th of W parts, cut where each has its share of the tokens (within half a sample), and
/// keeps it in the order of the samples' numbers.
///
/// Steps that follow one another are cheap: with each goes its share of the next window's bands, so that no step finds
/// a window unread. Any other step is possible, and reads the bands it needs. Not for several threads at once.
class StepSource {
public:
    /// @throws ConfigError when there are more ranks than sequences in a step, or sequences are longer than the model allows
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    StepSource(const std::vector<std::filesystem::path>& files, const BatchLoaderSettings& settings);

    /// This rank's micro-batches of a step, on the CPU, in pinned memory where the device is a GPU; counts are of this rank.
    /// Returns early, with anything, once a stop is requested. @throws DataError
    GlobalBatch make(std::int64_t step, const std::stop_token& stop = {});

    /// Of micro-batches that are made from now on; the samples of a step stay the same.
    void set_micro_batch_size(std::int64_t sequences) { settings_.micro_batch_size = sequences; }

    /// The samples of a step, of all ranks. Unlike everything else it may be asked while another thread makes a step.
    RowsByFile rows_by_file(std::int64_t step) const;

    std::int64_t rows_per_epoch() const { return order_.rows_per_epoch(); }
    /// Equal for equal samples in equal order: see SampleOrder::fingerprint. Contains every shard's checksum.
    std::string fingerprint() const { return order_.fingerprint(); }
    /// What fingerprint() was before shards that no manifest records had a checksum in it: checkpoints of that time hold it.
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
    SampleOrder order_ahead_;                ///< the same order, one window further
    SampleWindow window_;                    ///< that the last step ended in
    std::vector<NumberedBand> bands_ahead_;  ///< this rank's of the window after it
    BandCache cache_;
    RowLengths lengths_;  ///< of all ranks' bands, where there are several ranks
};

}  // namespace bertpretrain
