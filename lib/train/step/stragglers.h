#pragma once
// Finds the slowest rank.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/step/train_step.h"

namespace bertpretrain {

/// Sums each rank's own time (waiting for data, computing) over some steps; waits for other ranks do not count.
class Stragglers {
public:
    /// @param every_steps 0: never reports
    explicit Stragglers(std::int64_t every_steps) : every_steps_(every_steps) {}

    /// @returns every `every_steps` steps, with several ranks, a report of the slowest one; otherwise nullopt
    std::optional<std::string> add(const std::vector<RankTimes>& ranks);

private:
    std::int64_t every_steps_, steps_ = 0;
    std::vector<RankTimes> sums_;
};

}  // namespace bertpretrain
