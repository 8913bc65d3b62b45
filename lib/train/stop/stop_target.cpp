#include "train/stop/stop_target.h"

#include <algorithm>
#include <cmath>

namespace bertpretrain {
namespace {

/// The last 100 steps have 63 % of the average's weight.
constexpr std::int64_t steps_to_average = 100;

}  // namespace

void StopTarget::compare(const char* key, double value, double target) {
    if (!reached_ && target > 0 && value <= target) reached_ = {key, target, value};
}

void StopTarget::add_step(double mlm_loss) {
    if (config_.mlm_loss == 0 || !std::isfinite(mlm_loss)) return;
    ++loss_.steps;
    // The plain mean of the first steps: an average that began at 0 would be too low.
    loss_.value += (mlm_loss - loss_.value) / static_cast<double>(std::min(loss_.steps, steps_to_average));
    if (loss_.steps >= steps_to_average) compare("mlm_loss", loss_.value, config_.mlm_loss);
}

void StopTarget::add_evaluation(double held_out_mlm_loss) {
    compare("held_out_mlm_loss", held_out_mlm_loss, config_.held_out_mlm_loss);
}

std::optional<SmoothedLoss> StopTarget::state() const { return config_.mlm_loss > 0 ? std::optional(loss_) : std::nullopt; }

void StopTarget::restore(const std::optional<SmoothedLoss>& saved) {
    if (!saved || config_.mlm_loss == 0) return;
    loss_ = *saved;
    if (loss_.steps >= steps_to_average) compare("mlm_loss", loss_.value, config_.mlm_loss);
}

}  // namespace bertpretrain
