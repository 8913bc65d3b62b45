#pragma once
// Builds the batch of any step.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "batches/loader_settings.h"
#include "batches/micro_batch.h"
#include "batches/source_reader.h"

namespace bertpretrain {

/// A rank's part of a step, as a function of the step's number. BatchSizes says which samples of the run
/// a step has. Each of W ranks reads about 1/W of the data, because samples are assigned by band: sorted by
/// the band's place in its window, they are cut into W parts with equal numbers of tokens (within half a sample). Rank r gets
/// part r, in the order of the samples' numbers. With several sources, the mixture decides the source of each sample, each rank
/// reads about 1/W of every source, and within each micro-batch the samples are sorted by source.
///
/// Consecutive steps are cheap: each also reads its share of the next window's bands, so that no step has to read a whole window.
/// Any other step reads the bands that it needs. Not thread-safe.
class StepSource {
public:
    /// @throws ConfigError when a step has fewer sequences than there are ranks, or sequences are longer than the model allows
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    StepSource(const TrainingSources& sources, const BatchLoaderSettings& settings);

    /// Builds this rank's micro-batches of a step in host memory, pinned where the device is a GPU (build_batch). Counts are of
    /// this rank. After a stop request it returns early with an incomplete batch. @throws DataError
    GlobalBatch make(std::int64_t step, const std::stop_token& stop = {});

    /// Builds the first micro-batch that a rank computes in a step, in host memory. @throws DataError
    MicroBatch first_micro_batch(std::int64_t step, std::int64_t rank, const std::stop_token& stop = {});

    /// Applies to the following calls of make(). The samples of a step stay the same.
    void set_micro_batch_size(std::int64_t sequences) { settings_.micro_batch_size = sequences; }

    /// Returns where the samples of a step, of all ranks, are stored. Thread-safe, unlike all other members.
    RowsByFile rows_by_file(std::int64_t step) const;

    /// Samples of one epoch of all sources together.
    std::int64_t rows_per_epoch() const;
    /// Samples of one epoch of each source.
    std::vector<std::int64_t> rows_of_sources() const;
    const Mixture& mixture() const { return mixture_; }
    /// Equal for equal sources in equal order (SourceReader::fingerprint). Does not depend on the mixture's shares.
    std::string fingerprint() const;
    /// fingerprint() as older checkpoints hold it (SourceReader::earlier_fingerprint).
    std::string earlier_fingerprint() const;
    const BandCache& cache(std::size_t source = 0) const { return readers_[source].cache(); }
    const RowLengths& lengths(std::size_t source = 0) const { return readers_[source].lengths(); }

private:
    struct Sample {
        std::int64_t number = 0;
        std::size_t source = 0;
        SamplePlace place;
    };
    std::vector<Sample> samples_of(std::int64_t step, std::int64_t rank, const std::stop_token& stop);
    std::vector<Sample> part_of(std::int64_t rank, const std::vector<Sample>& by_band);
    MicroBatch first_sequences(std::vector<Sample> samples, std::int64_t count, const std::stop_token& stop);
    std::optional<CrossCheckBatch> cross_check(std::int64_t step, const std::vector<Sample>& own, const std::stop_token& stop);
    /// Reads the samples, which take their last shape where they leave their bands. @returns fewer after a stop request
    std::vector<UnpaddedSamples> read(const std::vector<Sample>& samples, const std::stop_token& stop);
    /// Waits for the shards of these samples where they are in a store. @returns false where a stop was requested
    bool await_shards(const std::vector<Sample>& samples, const std::stop_token& stop);
    void forget_before(const std::vector<Sample>& samples);
    void look_ahead(std::int64_t samples_until_now, const std::stop_token& stop);
    /// @param read the samples' tokens, which it takes
    MicroBatch micro_batch(std::span<const Sample> samples, std::span<UnpaddedSamples> read) const;

    BatchLoaderSettings settings_;
    Mixture mixture_;
    std::vector<SourceReader> readers_;
};

}  // namespace bertpretrain
