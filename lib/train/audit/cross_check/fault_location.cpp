#include "train/audit/cross_check/fault_location.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>

namespace bertpretrain {
namespace {

std::optional<std::uint64_t> majority_of(const std::vector<std::uint64_t>& votes) {
    for (const std::uint64_t vote : votes)
        if (2 * std::count(votes.begin(), votes.end(), vote) > std::ssize(votes)) return vote;
    return std::nullopt;
}

}  // namespace

std::vector<Disagreement> disagreements(const std::vector<CrossDigests>& reports) {
    std::vector<Disagreement> found;
    for (std::size_t checker = 0; checker < reports.size(); ++checker) {
        const CrossDigests& report = reports[checker];
        const std::uint64_t owners = reports[static_cast<std::size_t>(report.checked)].own;
        if (owners != report.other) found.push_back({report.checked, static_cast<std::int64_t>(checker), owners, report.other});
    }
    return found;
}

std::vector<std::int64_t> outvoted_ranks(const Disagreement& first, const std::vector<std::uint64_t>& again) {
    const std::optional<std::uint64_t> right = majority_of(again);
    if (!right) return {};
    std::set<std::int64_t> wrong;
    if (first.owners != *right) wrong.insert(first.owner);
    if (first.checkers != *right) wrong.insert(first.checker);
    for (std::size_t rank = 0; rank < again.size(); ++rank)
        if (again[rank] != *right) wrong.insert(static_cast<std::int64_t>(rank));
    return {wrong.begin(), wrong.end()};
}

}  // namespace bertpretrain
