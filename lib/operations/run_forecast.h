#pragma once
// Forecasts a whole run from its step time: hours, cost, failures and checkpoint interval.

#include <cstdint>
#include <optional>

namespace bertpretrain {

struct ForecastInputs {
    double step_seconds = 1;
    std::int64_t steps = 1;
    std::int64_t accelerators = 1;
    double hours_between_failures = 50'000;  ///< mean time between failures of one accelerator
    double save_seconds = 10;                ///< time per save during which training stops
    double write_seconds = 0;                ///< from a save's begin until the next one can begin
    double restart_seconds = 300;            ///< from a failure to the first new step
    double price_per_hour = 0;               ///< per accelerator; 0: unknown
};

struct Forecast {
    double hours = 0;           ///< including saves, restarts and repeated work
    double failures = 0;        ///< expected number
    double save_every_seconds;  ///< interval that minimizes the cost of saves and lost work together
    std::int64_t save_every_steps = 1;
    std::optional<double> cost;
};

/// With mean time M between failures of the whole job and d seconds per save, the best interval is sqrt(2 d M) (Young 1974; Daly
/// 2006 to first order), but no shorter than write_seconds. A failure loses half an interval plus the restart. `hours` is
/// infinite when failures outpace progress. The default failure rate is 419 interruptions of 16,384 accelerators in 54 days
/// (Llama 3, 2024).
Forecast forecast(const ForecastInputs& inputs);

}  // namespace bertpretrain
