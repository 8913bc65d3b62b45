#include "deduplication/min_hash.h"

#include <algorithm>
#include <cmath>

#include "core/rounding.h"

namespace bertpretrain {
namespace {

constexpr double least_share = 0.98;
constexpr int most_bands = 24;
constexpr std::size_t minima_per_block = 32;  // minima that stay in registers

std::uint64_t next_random(std::uint64_t& state) {  // splitmix64
    std::uint64_t value = state += 0x9E3779B97F4A7C15;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return value ^ (value >> 31);
}

/// Each hash function is a permutation of 32-bit numbers: (x ^ mask) * an odd factor.
inline __attribute__((always_inline)) void block_minima(std::span<const std::uint32_t> shingles, const std::uint32_t* masks,
                                                        const std::uint32_t* factors, std::uint32_t* minima) {
    std::uint32_t least[minima_per_block];
    std::fill(least, least + minima_per_block, ~std::uint32_t{0});
    for (const std::uint32_t shingle : shingles)
        for (std::size_t i = 0; i < minima_per_block; ++i) {
            const std::uint32_t hash = (shingle ^ masks[i]) * factors[i];
            least[i] = hash < least[i] ? hash : least[i];
        }
    std::copy(least, least + minima_per_block, minima);
}

using BlockMinima = void (*)(std::span<const std::uint32_t>, const std::uint32_t*, const std::uint32_t*, std::uint32_t*);

void block_minima_baseline(std::span<const std::uint32_t> shingles, const std::uint32_t* masks, const std::uint32_t* factors,
                           std::uint32_t* minima) {
    block_minima(shingles, masks, factors, minima);
}

#if defined(__x86_64__)
// SSE2 multiplies no 32-bit lanes, which makes the baseline several times slower.
__attribute__((target("avx2"))) void block_minima_avx2(std::span<const std::uint32_t> shingles, const std::uint32_t* masks,
                                                       const std::uint32_t* factors, std::uint32_t* minima) {
    block_minima(shingles, masks, factors, minima);
}
#endif

BlockMinima best_block_minima() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return block_minima_avx2;
#endif
    return block_minima_baseline;
}

}  // namespace

double candidate_share(Bands bands, double jaccard) { return 1 - std::pow(1 - std::pow(jaccard, bands.rows), bands.count); }

Bands bands_for(double threshold) {
    Bands best{most_bands, 1};
    for (int rows = 1; rows <= 32; ++rows)
        for (int count = 1; count <= most_bands; ++count)
            if (candidate_share({count, rows}, threshold) >= least_share) {
                best = {count, rows};
                break;
            }
    return best;
}

MinHash::MinHash(Bands bands) : bands_(bands) {
    const auto minima = static_cast<std::size_t>(bands.count * bands.rows);
    std::uint64_t state = 0x62657274;
    for (std::size_t i = 0; i < rounded_up(minima, minima_per_block); ++i) {
        const std::uint64_t random = next_random(state);
        masks_.push_back(static_cast<std::uint32_t>(random >> 32));
        factors_.push_back(static_cast<std::uint32_t>(random) | 1);
    }
}

void MinHash::append_keys(std::span<const std::uint32_t> shingles, std::vector<std::uint64_t>& keys) const {
    static const BlockMinima minima_of_block = best_block_minima();
    std::vector<std::uint32_t> minima(masks_.size());
    for (std::size_t begin = 0; begin < minima.size(); begin += minima_per_block)
        minima_of_block(shingles, &masks_[begin], &factors_[begin], &minima[begin]);
    std::size_t next = 0;
    for (int band = 0; band < bands_.count; ++band) {
        std::uint64_t state = static_cast<std::uint64_t>(band);
        std::uint64_t key = next_random(state);
        for (int row = 0; row < bands_.rows; ++row) {
            state = key ^ minima[next++];
            key = next_random(state);
        }
        keys.push_back(key);
    }
}

}  // namespace bertpretrain
