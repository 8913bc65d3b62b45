#pragma once
// The counter-based dropout of kernels/interface/dropout.h, for the eight elements of a row that a thread holds.

#include "core/philox.h"
#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

/// A Philox counter, or the four words that Philox generates from it.
struct Counter {
    unsigned at[4];
};

/// Returns the four words of Philox for this counter.
__device__ __forceinline__ Counter philox_words(const PhiloxKeys& keys, const Counter& counter) {
    Counter words = counter;
#pragma unroll
    for (int round = 0; round < philox_rounds; ++round)
        philox_round(words.at[0], words.at[1], words.at[2], words.at[3], keys.of_round[round]);
    return words;
}

/// Whether half-word `half` of the Philox words keeps its element.
/// @param upper_threshold  the threshold in the upper 16 bits, so that half-words need not be masked out
__device__ __forceinline__ bool keeps(const Counter& words, int half, unsigned upper_threshold) {
    const unsigned word = words.at[half / 2];
    return (half % 2 == 0 ? word << 16 : word) >= upper_threshold;
}

/// Appends one bit to `kept`: 1 if half-word `half` keeps its element.
__device__ __forceinline__ void append_kept(unsigned& kept, const Counter& words, int half, unsigned upper_threshold) {
#ifdef __CUDACC__
    // The comparison's carry is the bit that is shifted in.
    const unsigned word = half % 2 == 0 ? words.at[half / 2] << 16 : words.at[half / 2];
    asm("{\n\t.reg .u32 unused;\n\tadd.cc.u32 unused, %1, %2;\n\taddc.u32 %0, %0, %0;\n\t}"
        : "+r"(kept)
        : "r"(word), "r"(0U - upper_threshold));
#else
    kept = kept << 1 | (keeps(words, half, upper_threshold) ? 1U : 0U);
#endif
}

/// Returns one bit per half-word of Philox's words for this counter: 1 if its element is kept.
__device__ __forceinline__ unsigned kept_half_words(const PhiloxKeys& keys, unsigned threshold, const Counter& counter) {
    const Counter words = philox_words(keys, counter);
    unsigned kept = 0;
#pragma unroll
    for (int h = 0; h < 8; ++h) kept |= keeps(words, h, threshold << 16) ? 1U << h : 0U;
    return kept;
}

/// The same for a row of hidden states: `group` is one of the sixteen calls that 128 elements share.
__device__ __forceinline__ unsigned kept_half_words(const RowDropout& dropout, unsigned group, std::int64_t row) {
    const auto sample = static_cast<std::uint64_t>(dropout.sample_T[row]);
    return kept_half_words(dropout.keys, dropout.threshold,
                           {{group, static_cast<unsigned>(dropout.position_T[row]) | dropout.site << 16,
                             static_cast<unsigned>(sample), static_cast<unsigned>(sample >> 32)}});
}

/// Returns one bit per element that a thread holds of a row: 1 if dropout keeps it. All lanes of the warp must call it.
///
/// The warp's 256 columns are two groups of 128 with sixteen Philox calls each: lane l makes call l % 16 of group l / 16. In
/// group g, the quad of lane l is decided by half-word l / 4 of the calls 4 (l % 4) + {0, 1, 2, 3}; ballots exchange the bits.
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

/// Multiplies a thread's part of a row by the dropout factors.
__device__ __forceinline__ void apply_dropout(unsigned kept, float scale, Eight& values) {
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] *= (kept >> i & 1U) != 0 ? scale : 0.0F;
}

}  // namespace bertpretrain::cuda
