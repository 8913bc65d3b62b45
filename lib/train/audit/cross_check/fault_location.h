#pragma once
// Decides from the ranks' digests which of them computed wrongly.

#include <cstdint>
#include <vector>

namespace bertpretrain {

/// What a rank reports about a checked step.
struct CrossDigests {
    std::uint64_t own = 0;     ///< of its own first micro-batch
    std::int64_t checked = 0;  ///< another rank
    std::uint64_t other = 0;   ///< of that rank's first micro-batch, computed here
};

/// Two ranks that computed the first micro-batch of `owner` and got different bits.
struct Disagreement {
    std::int64_t owner = 0, checker = 0;
    std::uint64_t owners = 0, checkers = 0;  ///< their digests
};

/// Returns the disagreements, by checker. @param reports of all ranks, in rank order
std::vector<Disagreement> disagreements(const std::vector<CrossDigests>& reports);

/// Returns the ranks that computed wrongly, ascending: those whose digest differs from what more than half of all ranks got when
/// each computed the same micro-batch again. Empty if no digest has such a majority.
/// @param again the digests of the second computation, by rank
std::vector<std::int64_t> outvoted_ranks(const Disagreement& first, const std::vector<std::uint64_t>& again);

}  // namespace bertpretrain
