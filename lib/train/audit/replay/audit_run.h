#pragma once
// Audits a run: computes steps again by the run's own settings and data, and compares them with its records.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel/launch_environment.h"
#include "train/audit/audit.h"
#include "train/stop/stop_request.h"

namespace bertpretrain {

struct AuditRequest {
    std::filesystem::path run;           ///< its folder, in which nothing is written
    std::vector<std::string> overrides;  ///< "section.key=value" of settings that may differ from the run's, such as paths
    std::optional<std::pair<std::int64_t, std::int64_t>> steps;  ///< the first and last; nullopt: all, or samples
    std::int64_t samples = 0;                                    ///< number of random stretches of `sample_steps` steps; 0: none
    AuditBound bound;
};

inline constexpr std::int64_t sample_steps = 10;

/// Verifies the chain of the run's metrics. Then, for each stretch of steps, loads the newest undamaged checkpoint before it, or
/// the run's initial state, computes its steps, and compares each with its line of the metrics and, where the run has kept a
/// checkpoint of it, all tensors. All ranks call it together, and all get the same result.
/// @returns nullopt where a signal asked to stop
/// @throws ConfigError for steps that the run has not made, or whose settings are not known; DataError when the folder contains
/// no run, or the data differ
std::optional<Audit> audit_run(const AuditRequest& request, const Launch& launch, StopRequest& requests);

}  // namespace bertpretrain
