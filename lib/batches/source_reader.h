#pragma once
// Reads the rows of one source in the order of its samples.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "batches/band_cache.h"
#include "batches/loader_settings.h"
#include "batches/row_lengths.h"
#include "batches/sample_order.h"
#include "batches/shard_files.h"
#include "batches/unpadded_samples.h"

namespace bertpretrain {

/// The shards of a source, their order, and the bands that are in memory: two windows at most. Samples are numbered within the
/// source. Not thread-safe, except for add_rows().
class SourceReader {
public:
    /// @param source its index in the mixture
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    SourceReader(const std::vector<std::filesystem::path>& files, const BatchLoaderSettings& settings, std::size_t source);

    /// With shards in a store, waits until those of `places` are here, and holds them until the next call.
    /// @param run_rate the share of the run's samples that this source gives
    /// @returns false where a stop was requested  @throws Error when one cannot be fetched
    bool await_shards(std::int64_t first, std::span<const SamplePlace* const> places, double run_rate,
                      const std::stop_token& stop);
    /// Bytes of all shards of an object store; 0 for local shards.
    std::uint64_t remote_bytes() const;
    /// Bytes of the cache that the largest window's shards may need at once; 0 for local shards.
    std::uint64_t cache_bytes_needed() const;
    /// A lower bound of cache_bytes_needed(), from the manifest alone: before a shard is fetched, its bands are not known.
    static std::uint64_t least_cache_bytes_needed(const std::vector<std::filesystem::path>& files,
                                                  const BatchLoaderSettings& settings);
    SamplePlace locate(std::int64_t number) { return order_.locate(number); }
    /// Returns the tokens of the row. @throws DataError
    std::int64_t tokens_of(const SamplePlace& place) { return lengths_.tokens_of(place, cache_); }
    /// Drops bands that no later sample needs. @param first the place of the next sample that will be used
    void forget_before(const SamplePlace& first);
    /// Reads the bands of `places`, several at once.
    void read_ahead(std::span<const SamplePlace* const> places, const std::stop_token& stop);
    /// Returns the sample whose row is at `place`. @param number, masking as in unpadded_sample()  @throws DataError
    UnpaddedSamples sample_at(const SamplePlace& place, std::int64_t number, const DynamicMasking* masking);
    /// Reads this rank's share of the next window's bands, in proportion to the part of the window that has been used up to
    /// sample `last`, so that no step has to read a whole window.
    void look_ahead(std::int64_t last, const std::stop_token& stop);

    std::int64_t rows() const { return order_.rows_per_epoch(); }
    /// Equal for equal samples in equal order (SampleOrder::fingerprint). Depends on every shard's checksum.
    std::string fingerprint() const { return order_.fingerprint(); }
    /// fingerprint() without the checksums of shards that no manifest records, as older checkpoints hold it.
    std::string earlier_fingerprint() const;
    /// Adds the rows of samples `numbers`. Thread-safe.
    void add_rows(std::span<const std::int64_t> numbers, RowsByFile& rows) const;

    const BandCache& cache() const { return cache_; }
    const RowLengths& lengths() const { return lengths_; }

private:
    std::uint64_t seed_;
    std::int64_t window_rows_;
    std::optional<std::int32_t> document_end_;
    std::int64_t rank_, world_size_;
    std::size_t source_;
    std::shared_ptr<ObjectCache> shard_cache_;  ///< null: local shards
    std::vector<ShardFile> shards_;
    std::int64_t window_listed_ = -1;  ///< the first band of the window whose next uses the cache knows
    SampleOrder order_;
    SampleOrder order_ahead_;                ///< the same order, positioned in the next window
    SampleWindow window_;                    ///< the window of the last sample of look_ahead()
    std::vector<NumberedBand> bands_ahead_;  ///< this rank's bands of the following window
    BandCache cache_;
    RowLengths lengths_;  ///< of all ranks' bands; unused with one rank
};

}  // namespace bertpretrain
