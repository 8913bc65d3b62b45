#pragma once
// What a run's folder tells of the past: steps, evaluations, starts, and the time between them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/one_clock.h"

namespace bertpretrain {

struct RunHistory {
    std::string name;  ///< of its folder, as a terminal may show it
    std::filesystem::path folder;
    Metrics metrics;                                      ///< its times are those of one_clock.h, as the sessions'
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
