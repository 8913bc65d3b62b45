#include "optimizer/schedule.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bertpretrain {

void check_schedule(const ScheduleConfig& config) {
    if (config.constant_ratio != 0 && config.name != ScheduleName::warmup_constant_linear)
        throw ConfigError(concat("schedule.constant_ratio = ", config.constant_ratio, ": schedule.name = \"",
                                 name_of(config.name),
                                 "\" has no constant part; set it to 0, or the name to \"warmup_constant_linear\""));
    if (config.degree != ScheduleConfig{}.degree && config.name != ScheduleName::warmup_polynomial_jump)
        throw ConfigError(concat("schedule.degree = ", config.degree, ": schedule.name = \"", name_of(config.name),
                                 "\" has no degree; leave it out, or set the name to \"warmup_polynomial_jump\""));
    if (config.warmup_ratio + config.constant_ratio >= 1 && config.name != ScheduleName::constant)
        throw ConfigError(concat("schedule.warmup_ratio + schedule.constant_ratio = ", config.warmup_ratio, " + ",
                                 config.constant_ratio,
                                 ": must be below 1, so that some steps are left for the decay of the rate"));
}

double learning_rate_at(const ScheduleConfig& config, double peak, std::int64_t step) {
    check(step >= 1 && config.total_steps >= 1, "steps are counted from 1: got step ", step, " of ", config.total_steps);
    const double progress = static_cast<double>(step) / static_cast<double>(config.total_steps);
    if (progress < config.warmup_ratio) return peak * progress / config.warmup_ratio;
    if (config.name == ScheduleName::constant) return peak;
    const double left = std::max(0.0, 1 - progress);
    if (config.name == ScheduleName::warmup_polynomial_jump) return peak * std::pow(left, config.degree);
    const double constant_until = config.warmup_ratio + config.constant_ratio;
    return progress < constant_until ? peak : peak * left / (1 - constant_until);
}

}  // namespace bertpretrain
