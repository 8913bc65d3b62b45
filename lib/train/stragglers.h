#pragma once
// Which rank the others wait for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/train_step.h"

namespace bertpretrain {

/// Adds up the ranks' own work (waiting for data, computing) over some steps; what a rank waits for others is not in it.
class Stragglers {
public:
    /// @param every_steps 0: never reports
    explicit Stragglers(std::int64_t every_steps) : every_steps_(every_steps) {}

    /// @returns every so many steps, in a world of several ranks, who was slowest, in what, and by how much
    std::optional<std::string> add(const std::vector<RankTimes>& ranks);

private:
    std::int64_t every_steps_, steps_ = 0;
    std::vector<RankTimes> sums_;
};

}  // namespace bertpretrain
