#pragma once
// Training batches, built in the background.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "batches/batch_copier.h"
#include "batches/prefetcher.h"
#include "batches/step_source.h"

namespace bertpretrain {

/// This rank's batch of every step (StepSource defines its samples). One thread reads and builds the batches of the next steps.
/// Starts at step 1.
class BatchLoader {
public:
    /// Opens and verifies every shard.
    /// @throws ConfigError when a step has fewer sequences than there are ranks, or sequences are longer than the model allows
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    BatchLoader(const TrainingSources& sources, const BatchLoaderSettings& settings);
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    /// Returns the batch of step position() with its tensors on the settings' device. Waits until it is built, and sets
    /// `data_wait_seconds`. On a GPU the copies are queued on a stream of their own: call wait_for_copy() before a micro-batch is
    /// read. `sequences`, `tokens` and `masked` count this rank's part only.
    /// @throws DataError the error of the reading thread, with file and row; of shards in an object store as ObjectCache::hold()
    GlobalBatch next();
    /// Waits for at most `most`. @returns whether next() will return without waiting
    bool wait_for(std::chrono::milliseconds most) { return prefetcher_.wait_for(most); }

    /// The step whose batch next() returns: one more than the number of completed updates.
    std::int64_t position() const { return prefetcher_.position(); }

    /// Continues at any step (the first is 1). The time does not depend on the step.
    void seek(std::int64_t step);

    /// Returns the first micro-batch that a rank computes in a step, on the settings' device. Batches that were built ahead are
    /// built again: call it rarely. @throws DataError
    MicroBatch first_micro_batch(std::int64_t step, std::int64_t rank);

    /// Sets the size of micro-batches from step position() on. Batches that were built ahead are built again.
    void set_micro_batch_size(std::int64_t sequences);

    /// Sequences of each step, over all ranks.
    const BatchSizes& batch_sizes() const { return batch_sizes_; }
    /// Samples of one epoch of all sources together; below, of each source.
    std::int64_t rows_per_epoch() const { return rows_per_epoch_; }
    const std::vector<std::int64_t>& rows_of_sources() const { return rows_of_sources_; }
    /// Which source each sample comes from.
    const Mixture& mixture() const { return source_.mixture(); }
    /// Checkpoints keep it beside the step: a step has the same samples only if this and the number of sequences per step are
    /// equal.
    const std::string& fingerprint() const { return fingerprint_; }
    /// fingerprint() as older versions computed it (StepSource::earlier_fingerprint).
    std::string earlier_fingerprint() const { return source_.earlier_fingerprint(); }
    /// Returns where the samples of a step, of all ranks, are stored. May be called at any time.
    RowsByFile rows_of(std::int64_t step) const { return source_.rows_by_file(step); }

private:
    BatchCopier copier_;
    StepSource source_;  ///< used by the prefetcher's thread only, while that runs
    BatchSizes batch_sizes_;
    std::int64_t rows_per_epoch_;
    std::vector<std::int64_t> rows_of_sources_;
    std::string fingerprint_;
    Prefetcher<GlobalBatch> prefetcher_;
};

}  // namespace bertpretrain
