#pragma once
// MinHash with locality-sensitive hashing (Broder 1997; Leskovec et al., "Mining of Massive Datasets", chapter 3).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bertpretrain {

/// A signature of `count` bands with `rows` minimum hashes each. Two documents whose shingle sets have the Jaccard value J agree
/// in one minimum with probability J, in a band with J^rows, and in at least one band with 1 - (1 - J^rows)^count. Documents that
/// agree in a band are candidates, whose exact J is then computed.
struct Bands {
    int count = 0, rows = 0;
};

/// Returns 1 - (1 - jaccard^rows)^count: the share of pairs with this Jaccard value that become candidates.
double candidate_share(Bands bands, double jaccard);

/// Returns the longest rows that find at least 98 % of the pairs exactly at the threshold with at most 24 bands, since longer
/// rows give fewer candidates below the threshold. At 0.8: 22 bands of 8 rows, which find 98.2 % at J = 0.8, 99.8 % at 0.85, and
/// 8 % at 0.5. @param threshold from 0.3 to 1
Bands bands_for(double threshold);

/// Computes the keys of a document's bands. Thread-safe.
class MinHash {
public:
    explicit MinHash(Bands bands);

    /// Appends one key per band: a hash of the band's number and minima. @param shingles at least one; repeated ones change
    /// nothing
    void append_keys(std::span<const std::uint32_t> shingles, std::vector<std::uint64_t>& keys) const;

private:
    Bands bands_;
    std::vector<std::uint32_t> masks_, factors_;  ///< per minimum, rounded up to whole blocks
};

}  // namespace bertpretrain
