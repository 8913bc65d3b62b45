#include "train/stop/stop_agreement.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/clock.h"

namespace bertpretrain {
namespace {

/// Rare enough to cost nothing; frequent enough to leave half a minute for saving.
constexpr double seconds_between_agreements = 4;

}  // namespace

void StopAgreement::begin() {
    bytes_sent_ = 0;
    count_from_here();
}

void StopAgreement::count_from_here() {
    since_ = seconds_now();
    borders_ = 0;
}

bool StopAgreement::leave() {
    if (++borders_ < every_) return false;
    // The interval is computed from values that all ranks know, so that all agree at the same borders.
    const std::array<double, 2> own{static_cast<double>(requests_.reason().code()), seconds_now() - since_};
    double reason = 0, slowest = 1e-3;
    const Traffic before = world_.traffic();
    const std::vector<double> all = world_.all_gather(std::span<const double>(own));
    for (std::size_t i = 0; i < all.size(); i += own.size()) {
        reason = std::max(reason, all[i]);
        slowest = std::max(slowest, all[i + 1]);
    }
    const double fitting = std::floor(static_cast<double>(every_) * seconds_between_agreements / slowest);
    every_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, 2 * every_);
    bytes_sent_ += (world_.traffic() - before).bytes_sent;
    count_from_here();
    return reason != 0;
}

}  // namespace bertpretrain
