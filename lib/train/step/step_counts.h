#pragma once
// The number of samples in a step, over all ranks.

#include <cstdint>

namespace bertpretrain {

struct StepCounts {
    std::int64_t sequences = 0, tokens = 0, masked = 0, micro_batches = 0;  ///< summed over ranks
    std::int64_t fewest_micro_batches = 0;                                  ///< minimum over ranks
};

}  // namespace bertpretrain
