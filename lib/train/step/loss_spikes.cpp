#include "train/step/loss_spikes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/median.h"

namespace bertpretrain {
namespace {

constexpr std::size_t enough = 32, most = 64;

LossSpike compare(double loss, const std::deque<double>& others) {
    std::vector<double> values(others.begin(), others.end());
    const double middle = median(values);
    for (double& value : values) value = std::abs(value - middle);
    const double deviation = std::max(1.4826 * median(values), 0.01 * std::abs(middle));
    return {middle, (loss - middle) / deviation};
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
