#include "shards/mask_spans.h"

#include <algorithm>
#include <numeric>

namespace bertpretrain {
namespace {

/// Draws a length from 1 to `longest`. Only multiplies and adds, so that all machines draw the same.
std::size_t geometric_length(std::size_t longest, Rng& rng) {
    constexpr double first = 0.2;
    double total = 0, weight = first;
    for (std::size_t length = 1; length <= longest; ++length, weight *= 1 - first) total += weight;
    double left = rng.uniform() * total;
    std::size_t length = 1;
    for (weight = first; length < longest && left >= weight; ++length, weight *= 1 - first) left -= weight;
    return length;
}

/// Units from `begin` up to, not including, `end`.
struct UnitRange {
    std::size_t begin, end;
};

/// What has been chosen so far.
class ChosenUnits {
public:
    ChosenUnits(const MaskUnits& units, std::size_t wanted) : units_(units), wanted_(wanted), is_chosen_(units.size()) {}

    bool is_chosen(std::size_t unit) const { return is_chosen_[unit]; }
    bool is_complete() const { return positions.size() >= wanted_; }
    /// Chooses the range's units, or none of them if they are too many. @returns whether they are chosen now
    bool add(UnitRange range) {
        std::size_t tokens = 0;
        for (std::size_t u = range.begin; u < range.end; ++u) tokens += is_chosen_[u] ? 0 : units_[u].size();
        if (positions.size() + tokens > wanted_) return false;
        for (std::size_t u = range.begin; u < range.end; ++u) {
            if (is_chosen_[u]) continue;
            is_chosen_[u] = true;
            positions.insert(positions.end(), units_[u].begin(), units_[u].end());
        }
        return true;
    }

    std::vector<std::int32_t> positions{};

private:
    const MaskUnits& units_;
    std::size_t wanted_;
    std::vector<bool> is_chosen_;
};

/// Returns the units around `unit` within its run.
UnitRange neighbours_of(std::size_t unit, const MaskUnits& units, std::size_t count) {
    UnitRange range{unit, unit + 1};
    const auto is_same_run = [&](std::size_t other) { return units.runs[other] == units.runs[unit]; };
    for (std::size_t before = (count - 1) / 2; before > 0 && range.begin > 0 && is_same_run(range.begin - 1); --before)
        --range.begin;
    for (std::size_t after = count / 2; after > 0 && range.end < units.size() && is_same_run(range.end); --after) ++range.end;
    return range;
}

}  // namespace

std::vector<std::int32_t> choose_spans(const MaskUnits& units, std::size_t wanted, const MaskSpans& spans, Rng& rng) {
    std::vector<std::int32_t> unit_of(units.positions.size()), order(units.positions.size());
    for (std::size_t u = 0; u < units.size(); ++u)
        std::fill(unit_of.begin() + units.begins[u], unit_of.begin() + units.begins[u + 1], static_cast<std::int32_t>(u));
    std::iota(order.begin(), order.end(), 0);
    rng.choose(order, order.size());
    const auto longest = static_cast<std::size_t>(spans.longest);
    // Otherwise no span would fit into a row that has fewer tokens to mask.
    const std::size_t fixed_length = std::clamp<std::size_t>(wanted, 1, longest);
    ChosenUnits chosen(units, wanted);
    for (const std::int32_t token : order) {
        if (chosen.is_complete()) break;
        const auto unit = static_cast<std::size_t>(unit_of[static_cast<std::size_t>(token)]);
        if (spans.lengths == SpanLengths::fixed) {
            chosen.add(neighbours_of(unit, units, fixed_length));
            continue;
        }
        if (chosen.is_chosen(unit)) continue;
        const std::size_t end = std::min(units.size(), unit + geometric_length(longest, rng));
        for (std::size_t u = unit; u < end && units.runs[u] == units.runs[unit] && chosen.add({u, u + 1}); ++u) {}
    }
    return chosen.positions;
}

}  // namespace bertpretrain
