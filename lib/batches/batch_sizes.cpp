#include "batches/batch_sizes.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace bertpretrain {

BatchSizes::BatchSizes(std::int64_t sequences, const BatchWarmup& warmup) {
    std::int64_t samples = 0;
    if (warmup.steps > 0) {
        check(warmup.from >= 1 && warmup.from < sequences && warmup.increment >= 1, "a batch that grows from ", warmup.from,
              " to ", sequences, " sequences by ", warmup.increment);
        const std::int64_t sizes = (sequences - warmup.from + warmup.increment - 1) / warmup.increment;
        check(sizes <= most_batch_sizes, sizes, " sizes of a batch");
        for (std::int64_t size = 0; size < sizes; ++size) {
            const std::int64_t begin = (size * warmup.steps + sizes - 1) / sizes;
            const std::int64_t end = ((size + 1) * warmup.steps + sizes - 1) / sizes;
            if (begin == end) continue;  // fewer steps than sizes
            stages_.push_back({begin + 1, samples, warmup.from + size * warmup.increment});
            samples += (end - begin) * stages_.back().sequences;
        }
    }
    stages_.push_back({warmup.steps + 1, samples, sequences});
}

const BatchSizes::Stage& BatchSizes::stage(std::int64_t step) const {
    check(step >= 1, "step ", step);
    const auto after = std::upper_bound(stages_.begin(), stages_.end(), step,
                                        [](std::int64_t wanted, const Stage& stage) { return wanted < stage.first_step; });
    return *std::prev(after);
}

std::int64_t BatchSizes::samples_before(std::int64_t step) const {
    const Stage& of_step = stage(step);
    return of_step.samples_before + (step - of_step.first_step) * of_step.sequences;
}

double BatchSizes::steps_of(std::int64_t sequences, std::int64_t done, std::int64_t total) const {
    if (done >= total) return 0;
    return static_cast<double>(samples_before(total + 1) - samples_before(done + 1)) / static_cast<double>(sequences);
}

void require_sequence_per_rank(const BatchSizes& sizes, std::int64_t world_size) {
    const std::int64_t sequences = sizes.smallest();
    if (sequences >= world_size) return;
    throw ConfigError(concat("a step of ", sequences, " sequences cannot be shared by ", world_size, " ranks",
                             "\n  do: start at most ", sequences, " ranks, or raise batch.",
                             sequences < sizes.largest() ? "warmup_from" : "global_batch_size"));
}

}  // namespace bertpretrain
