#pragma once
// What a step consists of, over all ranks.

#include <cstdint>

namespace bertpretrain {

struct StepCounts {
    std::int64_t sequences = 0, tokens = 0, masked = 0, micro_batches = 0;
    std::int64_t fewest_micro_batches = 0;  ///< of any rank
};

}  // namespace bertpretrain
