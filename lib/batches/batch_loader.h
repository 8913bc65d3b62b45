#pragma once
// The training data, step by step, made ready in the background.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "batches/prefetcher.h"
#include "batches/step_source.h"

namespace bertpretrain {

/// Every step's batch of this rank (see StepSource for what is in it), read ahead by one thread. Starts at step 1.
class BatchLoader {
public:
    /// Opens every shard once, before anything is trained.
    /// @throws ConfigError when there are more ranks than sequences in a step, or sequences are longer than the model allows
    /// @throws DataError when a shard is missing, damaged or of another sequence length
    BatchLoader(const std::vector<std::filesystem::path>& files, const BatchLoaderSettings& settings);
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    /// The batch of step position(), on the settings' device; waits where it is not ready, and says how long.
    /// `sequences`, `tokens` and `masked` count this rank's part: with several ranks, the caller adds them up.
    /// @throws DataError what the reading thread met, naming file and row
    GlobalBatch next();
    /// Waits, but not for long. @returns whether next() will answer at once
    bool wait_for(std::chrono::milliseconds most) { return prefetcher_.wait_for(most); }

    /// The step that next() gives: one more than the updates completed before it.
    std::int64_t position() const { return prefetcher_.position(); }

    /// Goes to any step (the first is 1), in a time that does not depend on it.
    void seek(std::int64_t step);

    /// Cuts the steps from position() on into micro-batches of another size.
    void set_micro_batch_size(std::int64_t sequences);

    /// Of a step, over all ranks.
    std::int64_t global_batch_sequences() const { return global_batch_sequences_; }
    std::int64_t rows_per_epoch() const { return rows_per_epoch_; }
    /// Belongs into a checkpoint beside the step: a step means the same samples only where this is equal (and the number of
    /// sequences per step too).
    const std::string& fingerprint() const { return fingerprint_; }
    /// fingerprint() as older versions computed it: see StepSource::earlier_fingerprint.
    std::string earlier_fingerprint() const { return source_.earlier_fingerprint(); }
    /// Where the samples of a step (of all ranks) are stored, so that a person can look at them; at any time.
    RowsByFile rows_of(std::int64_t step) const { return source_.rows_by_file(step); }

private:
    at::Device device_;
    StepSource source_;  ///< touched by the prefetcher's thread only, once that runs
    std::int64_t global_batch_sequences_;
    std::int64_t rows_per_epoch_;
    std::string fingerprint_;
    Prefetcher<GlobalBatch> prefetcher_;
};

}  // namespace bertpretrain
