#include "operations/run_forecast.h"

#include <algorithm>
#include <cmath>

namespace bertpretrain {

Forecast forecast(const ForecastInputs& inputs) {
    const double working = inputs.step_seconds * static_cast<double>(inputs.steps);
    const double between = inputs.hours_between_failures * 3600 / static_cast<double>(inputs.accelerators);
    Forecast result{};
    result.save_every_seconds = std::max(std::sqrt(2 * inputs.save_seconds * between), inputs.write_seconds);
    result.save_every_steps =
        std::clamp<std::int64_t>(std::llround(result.save_every_seconds / inputs.step_seconds), 1, inputs.steps);
    const double interval = static_cast<double>(result.save_every_steps) * inputs.step_seconds;
    const double with_saving = working * (1 + inputs.save_seconds / interval);
    // Each second has 1 / M expected failures, and each failure adds per_failure seconds.
    const double per_failure = interval / 2 + inputs.restart_seconds;
    const double seconds = per_failure < between ? with_saving / (1 - per_failure / between) : INFINITY;
    result.hours = seconds / 3600;
    result.failures = seconds / between;
    if (inputs.price_per_hour > 0) result.cost = result.hours * static_cast<double>(inputs.accelerators) * inputs.price_per_hour;
    return result;
}

}  // namespace bertpretrain
