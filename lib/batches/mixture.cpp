#include "batches/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr double whole = 1e9;

/// Returns how many of `samples` samples the first of two halves gets: the exact share, rounded.
std::int64_t first_half(std::int64_t samples, std::int64_t share, std::int64_t both) {
    return static_cast<std::int64_t>((static_cast<__int128>(samples) * share + both / 2) / both);
}

/// Adds the counts of sources [first, end), which together have `samples` samples.
void add_counts(const std::vector<std::int64_t>& before, std::size_t first, std::size_t end, std::int64_t samples,
                std::vector<std::int64_t>& counts) {
    if (samples == 0) return;
    if (end - first == 1) {
        counts[first] += samples;
        return;
    }
    const std::size_t middle = (first + end) / 2;
    const std::int64_t of_first = first_half(samples, before[middle] - before[first], before[end] - before[first]);
    add_counts(before, first, middle, of_first, counts);
    add_counts(before, middle, end, samples - of_first, counts);
}

}  // namespace

std::vector<std::int64_t> mixture_shares(std::span<const double> weights) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::int64_t> shares;
    for (const double weight : weights)
        shares.push_back(std::max<std::int64_t>(weight > 0 ? 1 : 0, std::llround(weight / sum * whole)));
    return shares;
}

Mixture::Mixture(std::vector<MixturePart> parts) : parts_(std::move(parts)) {
    check(!parts_.empty() && !parts_.front().shares.empty() && parts_.front().first_sample == 0,
          "a mixture has sources and begins at sample 0");
    begins_.emplace_back(parts_.front().shares.size(), 0);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const std::vector<std::int64_t>& shares = parts_[p].shares;
        check(shares.size() == sources() && std::ranges::all_of(shares, [](std::int64_t share) { return share >= 0; }),
              "all parts of a mixture have a share of each source, and none is negative");
        std::vector<std::int64_t>& before = shares_before_.emplace_back(1, 0);
        for (const std::int64_t share : shares) before.push_back(before.back() + share);
        check(before.back() > 0, "a part of a mixture has no share above 0");
        if (p + 1 == parts_.size()) break;
        const std::int64_t samples = parts_[p + 1].first_sample - parts_[p].first_sample;
        check(samples > 0, "a part of a mixture begins at sample ", parts_[p + 1].first_sample);
        std::vector<std::int64_t> counts = begins_.back();
        add_counts(before, 0, sources(), samples, counts);
        begins_.push_back(std::move(counts));
    }
}

const MixturePart& Mixture::part_of(std::int64_t sample) const {
    const auto after = std::upper_bound(parts_.begin() + 1, parts_.end(), sample,
                                        [](std::int64_t number, const MixturePart& part) { return number < part.first_sample; });
    return *(after - 1);
}

Mixture::Place Mixture::locate(std::int64_t sample) const {
    const MixturePart& part = part_of(sample);
    const auto p = static_cast<std::size_t>(&part - parts_.data());
    const std::vector<std::int64_t>& before = shares_before_[p];
    std::size_t first = 0, end = sources();
    std::int64_t number = sample - part.first_sample;
    while (end - first > 1) {
        const std::size_t middle = (first + end) / 2;
        const std::int64_t share = before[middle] - before[first], both = before[end] - before[first];
        const std::int64_t of_first = first_half(number, share, both);
        if (first_half(number + 1, share, both) > of_first) {
            end = middle;
            number = of_first;
        } else {
            first = middle;
            number -= of_first;
        }
    }
    return {first, begins_[p][first] + number};
}

std::vector<std::int64_t> Mixture::counts(std::int64_t samples) const {
    if (samples == 0) return begins_.front();
    const MixturePart& part = part_of(samples - 1);
    const auto p = static_cast<std::size_t>(&part - parts_.data());
    std::vector<std::int64_t> counts = begins_[p];
    add_counts(shares_before_[p], 0, sources(), samples - part.first_sample, counts);
    return counts;
}

}  // namespace bertpretrain
