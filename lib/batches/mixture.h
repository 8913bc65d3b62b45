#pragma once
// Which source each sample of a run comes from, where a run trains on several sources with weights.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bertpretrain {

/// From sample `first_sample` on, source s gives shares[s] of every sum(shares) samples.
struct MixturePart {
    std::int64_t first_sample = 0;
    std::vector<std::int64_t> shares;

    bool operator==(const MixturePart&) const = default;
};

/// Returns weights as billionths of their sum, rounded. A weight above 0 gets at least 1.
std::vector<std::int64_t> mixture_shares(std::span<const double> weights);

/// The source of sample 0, 1, 2, ... of a run: a pure function of the sample's number.
///
/// The sources are the leaves of a balanced binary tree. Each node divides its samples between its two halves, so that after any
/// number of them each half has its exact share, rounded. With K sources, the number of samples of a source therefore differs
/// from its exact share by at most log2(K) / 2 (rounded up) after any number of samples, and by at most log2(K) in any window.
class Mixture {
public:
    /// One source.
    Mixture() : Mixture(std::vector<MixturePart>{{0, {1}}}) {}
    /// @param parts the first begins at sample 0, each later one after the one before it, and all have as many shares, none of
    ///        them negative and at least one above 0. A later part continues each source where the part before it ends.
    /// @throws std::logic_error for other parts
    explicit Mixture(std::vector<MixturePart> parts);

    struct Place {
        std::size_t source = 0;
        std::int64_t number = 0;  ///< among the source's own samples, from 0
    };
    /// Costs log2(sources).
    Place locate(std::int64_t sample) const;
    /// Returns how many of the first `samples` samples each source gives.
    std::vector<std::int64_t> counts(std::int64_t samples) const;

    std::size_t sources() const { return parts_.front().shares.size(); }
    const std::vector<MixturePart>& parts() const { return parts_; }

private:
    const MixturePart& part_of(std::int64_t sample) const;

    std::vector<MixturePart> parts_;
    std::vector<std::vector<std::int64_t>> shares_before_;  ///< by part: sum of the shares before each source, and of all
    std::vector<std::vector<std::int64_t>> begins_;         ///< by part: samples of each source before the part
};

}  // namespace bertpretrain
