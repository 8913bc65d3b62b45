#pragma once
// Extracts a plan's parameters from a real run.

#include <cstdint>

#include "telemetry/metrics_file.h"

namespace bertpretrain {

/// Medians over a run's steps, without its first fifth. Computing time is a step's time without waits for data and for other
/// ranks.
struct MeasuredRun {
    std::int64_t world_size = 1;
    double tokens_per_sequence = 0;
    double sequences_per_step = 0;
    double step_seconds = 0;
    double computing_seconds = 0;      ///< per rank and step
    double exposed_seconds = 0;        ///< communication that a step waited for
    double communication_seconds = 0;  ///< per rank and step, overlapped or not
    double tflops_per_rank = 0;        ///< model TFLOP/s during computing time
    double sent_gbps = 0;              ///< GB/s that a rank sends while communicating; 0: it did not communicate
};

/// @throws DataError when the run has fewer than 3 steps
MeasuredRun measure(const Metrics& metrics, std::int64_t world_size);

}  // namespace bertpretrain
