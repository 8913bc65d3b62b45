#pragma once
// What a real run tells a plan.

#include <cstdint>

#include "telemetry/metrics_file.h"

namespace bertpretrain {

/// Medians over a run's steps behind its first fifth. A rank's computing is a step without what it waited for data and for
/// others.
struct MeasuredRun {
    std::int64_t world_size = 1;
    double tokens_per_sequence = 0;
    double sequences_per_step = 0;
    double step_seconds = 0;
    double computing_seconds = 0;      ///< of a rank and step
    double exposed_seconds = 0;        ///< communication that a step waited for
    double communication_seconds = 0;  ///< of a rank and step, hidden or not
    double tflops_per_rank = 0;        ///< of the model's operations, while it computes
    double sent_gbps = 0;              ///< of a rank, while something is on its way; 0: nothing was
};

/// @throws DataError when there are fewer than 3 steps
MeasuredRun measure(const Metrics& metrics, std::int64_t world_size);

}  // namespace bertpretrain
