#include "optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Refuses a setting that another schedule would use.
void refuse_unused(const ScheduleConfig& config, std::string_view setting, auto value, std::string_view part,
                   std::string_view users) {
    throw ConfigError(concat("schedule.", setting, " = ", value, ": schedule.name = \"", name_of(config.name), "\" has no ", part,
                             "\n  do: leave ", setting, " out, or set schedule.name to ", users));
}

/// Returns the fraction of the peak after the share `x` of a decay.
double decayed(DecayShape shape, double x, double final_ratio) {
    const double falls = shape == DecayShape::linear           ? 1 - x
                         : shape == DecayShape::one_minus_sqrt ? 1 - std::sqrt(x)
                                                               : (1 + std::cos(std::numbers::pi * x)) / 2;
    return std::lerp(final_ratio, 1.0, falls);  // exact at both ends
}

}  // namespace

void check_schedule(const ScheduleConfig& config) {
    const ScheduleConfig unset;
    const bool is_wsd = config.name == ScheduleName::wsd;
    if (config.constant_ratio != 0 && config.name != ScheduleName::warmup_constant_linear)
        refuse_unused(config, "constant_ratio", config.constant_ratio,
                      is_wsd ? "setting for it: its constant part is what warmup_ratio and decay_ratio leave" : "constant part",
                      "\"warmup_constant_linear\"");
    if (config.degree != unset.degree && config.name != ScheduleName::warmup_polynomial_jump)
        refuse_unused(config, "degree", config.degree, "degree", "\"warmup_polynomial_jump\"");
    if (config.decay_ratio != unset.decay_ratio && !is_wsd)
        refuse_unused(config, "decay_ratio", config.decay_ratio, "decay of its own length", "\"wsd\"");
    if (config.decay_shape != unset.decay_shape && !is_wsd)
        refuse_unused(config, "decay_shape", name_of(config.decay_shape), "choice of its decay's shape", "\"wsd\"");
    if (config.final_ratio != 0 && !is_wsd && config.name != ScheduleName::warmup_cosine)
        refuse_unused(config, "final_ratio", config.final_ratio, "choice of its last rate", "\"warmup_cosine\" or \"wsd\"");
    if (is_wsd && config.warmup_ratio + config.decay_ratio > 1)
        throw ConfigError(concat("schedule.warmup_ratio + schedule.decay_ratio = ", config.warmup_ratio, " + ",
                                 config.decay_ratio, ": must be at most 1, so that the decay begins after the warm-up"));
    if (config.warmup_ratio + config.constant_ratio >= 1 && config.name != ScheduleName::constant && !is_wsd)
        throw ConfigError(concat("schedule.warmup_ratio + schedule.constant_ratio = ", config.warmup_ratio, " + ",
                                 config.constant_ratio,
                                 ": must be below 1, so that some steps are left for the decay of the rate"));
}

double learning_rate_at(const ScheduleConfig& config, double peak, std::int64_t step) {
    check(step >= 1 && config.total_steps >= 1, "steps are counted from 1: got step ", step, " of ", config.total_steps);
    const double progress = static_cast<double>(step) / static_cast<double>(config.total_steps);
    if (progress < config.warmup_ratio) return peak * progress / config.warmup_ratio;
    if (config.name == ScheduleName::constant) return peak;
    const bool is_wsd = config.name == ScheduleName::wsd;
    if (is_wsd || config.name == ScheduleName::warmup_cosine) {
        const double length = is_wsd ? config.decay_ratio : 1 - config.warmup_ratio;
        const double share = std::clamp((progress - (1 - length)) / length, 0.0, 1.0);
        return peak * decayed(is_wsd ? config.decay_shape : DecayShape::cosine, share, config.final_ratio);
    }
    const double left = std::max(0.0, 1 - progress);
    if (config.name == ScheduleName::warmup_polynomial_jump) return peak * std::pow(left, config.degree);
    const double constant_until = config.warmup_ratio + config.constant_ratio;
    return progress < constant_until ? peak : peak * left / (1 - constant_until);
}

}  // namespace bertpretrain
