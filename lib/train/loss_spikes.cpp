#include "train/loss_spikes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bertpretrain {
namespace {

constexpr std::size_t enough = 32, most = 64;

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

LossSpike compare(double loss, const std::deque<double>& others) {
    std::vector<double> values(others.begin(), others.end());
    const double median = median_of(values);
    for (double& value : values) value = std::abs(value - median);
    const double deviation = std::max(1.4826 * median_of(values), 0.01 * std::abs(median));
    return {median, (loss - median) / deviation};
}

}  // namespace

std::optional<LossSpike> LossSpikes::add(double loss) {
    if (deviations_ == 0) return std::nullopt;
    const LossSpike spike = last_.size() < enough ? LossSpike{} : compare(loss, last_);
    last_.push_back(loss);
    if (last_.size() > most) last_.pop_front();
    return spike.deviations > deviations_ ? std::optional(spike) : std::nullopt;
}

}  // namespace bertpretrain
