#pragma once
// How many sequences each step of a run has.

#include <cstdint>
#include <vector>

namespace bertpretrain {

/// A batch that grows over the first `steps` steps, from `from` sequences by `increment` at a time; each size has the same number
/// of steps, within one.
struct BatchWarmup {
    std::int64_t steps = 0, from = 0, increment = 0;  ///< steps = 0: no warm-up
    bool operator==(const BatchWarmup&) const = default;
};

/// The most sizes that a warm-up may go through.
inline constexpr std::int64_t most_batch_sizes = 100'000;

/// Sequences of every step over all ranks. Step k (the first is 1) has the samples [samples_before(k), samples_before(k + 1)).
class BatchSizes {
public:
    /// All steps are equally large.
    BatchSizes(std::int64_t sequences = 0) : BatchSizes(sequences, {}) {}
    /// @param sequences of a step after the warm-up
    BatchSizes(std::int64_t sequences, const BatchWarmup& warmup);

    std::int64_t of(std::int64_t step) const { return stage(step).sequences; }
    std::int64_t samples_before(std::int64_t step) const;
    std::int64_t smallest() const { return stages_.front().sequences; }
    std::int64_t largest() const { return stages_.back().sequences; }

    /// Returns how many steps of `sequences` sequences have as many samples as the steps after `done` up to `total`.
    double steps_of(std::int64_t sequences, std::int64_t done, std::int64_t total) const;

private:
    /// Steps of one size.
    struct Stage {
        std::int64_t first_step, samples_before, sequences;
    };
    const Stage& stage(std::int64_t step) const;

    std::vector<Stage> stages_;
};

/// @throws ConfigError where a step has fewer sequences than there are ranks
void require_sequence_per_rank(const BatchSizes& sizes, std::int64_t world_size);

}  // namespace bertpretrain
