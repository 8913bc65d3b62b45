#pragma once
// The rounds of an all-gather of small messages. Each round doubles the number of messages that a rank has.

#include <cstdint>
#include <vector>

namespace bertpretrain {

/// What a rank does in one round.
struct GatherRound {
    std::int64_t to = 0, from = 0;  ///< the ranks that it sends to and receives from
    std::int64_t messages = 0;      ///< how many it sends, and how many it receives
};

/// Returns the ceil(log2(size)) rounds of a rank, for any size >= 1 (Bruck et al. 1997). A rank keeps the messages in the order
/// of their ranks, beginning with its own: after that of the last rank comes that of rank 0. In each round it sends the first
/// `messages` of those that it has, and appends those that it receives. In a rank's rounds, all `to` differ, and all `from`.
std::vector<GatherRound> gather_rounds(std::int64_t rank, std::int64_t size);

}  // namespace bertpretrain
