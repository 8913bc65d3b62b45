#pragma once
// Reads a run's history from its folder: steps, evaluations, starts, and the time between them.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/one_clock.h"

namespace bertpretrain {

/// How the last start of an unfinished run ended: RUN/exit.json, which a start removes.
struct RunExit {
    int code = 0;  ///< 128 + n: stopped by signal n
    std::string cause;
};

struct RunHistory {
    std::string name;  ///< name of its folder, safe to print on a terminal
    std::filesystem::path folder;
    Metrics metrics;                                      ///< at least one step; times on the sessions' clock (one_clock.h)
    std::vector<Session> sessions;                        ///< never empty
    std::int64_t samples_per_epoch = 0, total_steps = 0;  ///< 0: unknown, as of a run with phases
    std::vector<std::filesystem::path> parts;             ///< the folder, or those of its phases
    std::set<std::string> held_out;  ///< fingerprints of the rows on which held-out losses were measured; empty: not recorded
    bool is_finished = false;        ///< it reached its last step or its target, and has not begun again since
    std::optional<RunExit> exit = std::nullopt;  ///< nothing: it finished, or is running

    std::int64_t restarts() const { return std::ranges::count(sessions, false, &Session::begins_phase) - 1; }
};

/// Reads a run, which may still be running. Counts every start, including those that took no step, because they cost time too.
/// Steps and samples of a run with phases count from the start of its first phase.
/// @throws DataError if the folder contains no run, or the run has no step yet
RunHistory read_run(const std::filesystem::path& folder);

/// Reads several runs. A folder that is no run stands for all runs below it, by name, at most three folders deep. Runs whose
/// folders have the same name are named by their paths. Those without a step, which have just begun or were refused, are left out
/// with a warning. @throws DataError like read_run, or if no run has a step
std::vector<RunHistory> read_runs(const std::vector<std::string>& folders);

/// The resources that a run has used, without the time between sessions.
struct Spent {
    double seconds = 0;
    double accelerator_seconds = 0;  ///< sum over sessions of seconds times ranks
    std::int64_t restarts = 0;
};
/// @param time a moment on the sessions' clock; INFINITY: the end of the run
Spent spent_until(const RunHistory& run, double time);

/// Returns the median of sequences per second over the last session's steps, without the first fifth of them. Uses all steps if
/// the last session has none.
double steady_rate(const RunHistory& run);
/// The same of the model's TFLOP/s.
double steady_tflops(const RunHistory& run);

/// Returns the mean MLM loss over the last tenth of the steps, at most 100, because a single step is too noisy.
double last_training_loss(const RunHistory& run);

/// Returns the lowest held-out MLM loss; nullopt where none was measured, or none is finite.
std::optional<double> best_held_out_loss(const RunHistory& run);

}  // namespace bertpretrain
