#include "deduplication/clusters.h"

#include <algorithm>
#include <numeric>

namespace bertpretrain {

Clusters::Clusters(std::size_t documents) : earlier_(documents) { std::iota(earlier_.begin(), earlier_.end(), 0U); }

/// Shortens the path on its way, so that paths stay short on average.
std::uint32_t Clusters::find(std::uint32_t document) {
    while (earlier_[document] != document) {
        earlier_[document] = earlier_[earlier_[document]];
        document = earlier_[document];
    }
    return document;
}

void Clusters::unite(std::uint32_t a, std::uint32_t b) {
    const std::lock_guard lock(guard_);
    const auto [first, second] = std::minmax({find(a), find(b)});
    earlier_[second] = first;
}

std::uint32_t Clusters::first_of(std::uint32_t document) {
    const std::lock_guard lock(guard_);
    return find(document);
}

bool Clusters::are_united(std::uint32_t a, std::uint32_t b) {
    const std::lock_guard lock(guard_);
    return find(a) == find(b);
}

}  // namespace bertpretrain
