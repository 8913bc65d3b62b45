#pragma once
// What a run's folder tells of the past: steps, evaluations, starts, and the time between them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "telemetry/events_file.h"
#include "telemetry/metrics_file.h"

namespace bertpretrain {

/// From a start to the last sign of life before the next one.
struct Session {
    double begin = 0, end = 0;    ///< seconds since 1970 UTC
    std::int64_t first_step = 0;  ///< completed steps at its begin
    std::int64_t ranks = 1;
    std::int64_t lost_steps = 0;  ///< of the steps that it took: so many were done again by the next
};

struct RunHistory {
    std::string name;  ///< of its folder
    std::filesystem::path folder;
    Metrics metrics;
    std::vector<Session> sessions;                        ///< never empty
    std::int64_t samples_per_epoch = 0, total_steps = 0;  ///< 0: unknown

    std::int64_t restarts() const { return static_cast<std::int64_t>(sessions.size()) - 1; }
};

/// Reads a run, also one that is going on. Every start in the folder counts, those that came to nothing too: they were paid for.
/// @throws DataError when there is no run in the folder, or no step was taken yet
RunHistory read_run(const std::filesystem::path& folder);

/// Reads several; runs whose folders have the same name are named by their paths.
std::vector<RunHistory> read_runs(const std::vector<std::string>& folders);

/// What a run had taken at a moment, without the time in which it did not run.
struct Spent {
    double seconds = 0;
    double accelerator_seconds = 0;  ///< times the ranks of each session
    std::int64_t restarts = 0;
};
Spent spent_until(const RunHistory& run, double time);

/// Sequences per second when it runs: the median over the last session's steps behind its first fifth.
double steady_rate(const RunHistory& run);

}  // namespace bertpretrain
