#pragma once
// The counter-based dropout of kernels/dropout.h for the eight elements that a thread holds of a row.

#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

/// A counter of philox.
struct Counter {
    unsigned at[4];
};

/// The four words that philox gives for this counter (core/random.h).
__device__ __forceinline__ Counter philox_words(const unsigned (&key)[2], const Counter& counter) {
    Counter c = counter;
    unsigned k0 = key[0], k1 = key[1];
#pragma unroll
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
        const unsigned a = __umulhi(0xD2511F53U, c.at[0]), a_low = 0xD2511F53U * c.at[0];
        const unsigned b = __umulhi(0xCD9E8D57U, c.at[2]), b_low = 0xCD9E8D57U * c.at[2];
        c.at[0] = b ^ c.at[1] ^ k0, c.at[1] = b_low;
        c.at[2] = a ^ c.at[3] ^ k1, c.at[3] = a_low;
    }
    return c;
}

/// Whether half-word `half` of philox's words keeps its element.
/// @param upper_threshold  the threshold in the upper half, so that no half-word has to be cut out
__device__ __forceinline__ bool keeps(const Counter& words, int half, unsigned upper_threshold) {
    const unsigned word = words.at[half / 2];
    return (half % 2 == 0 ? word << 16 : word) >= upper_threshold;
}

/// One bit for each of the eight half-words that philox gives for this counter: whether it keeps its element.
__device__ __forceinline__ unsigned kept_half_words(const unsigned (&key)[2], unsigned threshold, const Counter& counter) {
    const Counter words = philox_words(key, counter);
    unsigned kept = 0;
#pragma unroll
    for (int h = 0; h < 8; ++h) kept |= keeps(words, h, threshold << 16) ? 1U << h : 0U;
    return kept;
}

/// The same for 128 elements of a row of the hidden states that share sixteen calls, of which this is call `group`.
__device__ __forceinline__ unsigned kept_half_words(const RowDropout& dropout, unsigned group, std::int64_t row) {
    const auto sample = static_cast<std::uint64_t>(dropout.sample_T[row]);
    return kept_half_words(dropout.key, dropout.threshold,
                           {{group, static_cast<unsigned>(dropout.position_T[row]) | dropout.site << 16,
                             static_cast<unsigned>(sample), static_cast<unsigned>(sample >> 32)}});
}

/// One bit for each of the eight elements that a thread holds of a row: whether dropout keeps it. All lanes of the warp must
/// come.
///
/// The warp's 256 columns are two groups of 128, which take sixteen calls each: lane l makes call l % 16 of group l / 16. Of
/// group g, the quad of lane l is decided by half-word l / 4 of the calls 4 (l % 4) + {0, 1, 2, 3}; ballots bring the bits there.
__device__ __forceinline__ unsigned kept_of_eight(const RowDropout& dropout, std::int64_t row, std::int64_t first) {
    const unsigned mine = kept_half_words(dropout, static_cast<unsigned>(first / 8 + lane()), row);
    unsigned of_lanes = 0;
#pragma unroll
    for (int h = 0; h < 8; ++h) {
        const unsigned kept = __ballot_sync(all_lanes, (mine >> h & 1U) != 0);
        if (h == lane() / 4) of_lanes = kept;
    }
    const unsigned quad = of_lanes >> 4 * (lane() % 4);
    return (quad & 0xFU) | (quad >> 12 & 0xF0U);
}

/// Multiplies a thread's part of a row with dropout's factors.
__device__ __forceinline__ void apply_dropout(unsigned kept, float scale, Eight& values) {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] *= (kept >> i & 1U) != 0 ? scale : 0.0F;
}

}  // namespace bertpretrain::cuda
