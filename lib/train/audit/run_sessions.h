#pragma once
// The starts and resumes of a run: the settings and the machine by which each of its steps was computed.

#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>
#include <nlohmann/json_fwd.hpp>

#include "parallel/node_route.h"
#include "plan/experiment_config.h"
#include "plan/run_plan.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {

/// Returns the kernels that compute on a device: "avx512_bf16" on a CPU, "cuda". Others round differently.
std::string kernels_on(at::Device device);

/// Returns what decides the bits of a step besides settings and ranks: kernels, processor, libtorch and this program's version.
/// Empty on a GPU, where equal bits are not promised.
std::string computed_by(at::Device device);

/// Returns what decides the bits of sums over ranks besides their number: the type of gradients on the wire and the way between
/// nodes, as "bf16 over 0 2, 1 3"; "" for fp32 in one stage.
std::string sums_of(const RunPlan& plan, const NodeRoute& route);

/// Returns the SHA-256 of settings as 64 hex digits, independent of the order of keys and of white space.
std::string settings_digest(const nlohmann::json& settings);

/// The steps from one start or resume to the next.
struct RunSession {
    std::int64_t begin = 0;  ///< completed updates at its start
    std::int64_t ranks = 0;  ///< 0: not recorded
    std::string computed_by;
    ExperimentConfig settings;
    bool knows_settings = true;
    std::string sums{};  ///< sums_of()
};

class RunSessions {
public:
    /// Reads a run's events, its settings and those of its checkpoints. A session of an earlier version, which did not record the
    /// digest of its settings, has the run's present ones if all that are found compute the same.
    /// @throws DataError when the events cannot be read or contain no start; ConfigError when the settings cannot be read
    explicit RunSessions(const RunPaths& run);

    /// Completed updates at the first start in this folder: not 0 where the run was taken from its mirror.
    std::int64_t begin() const { return sessions_.front().begin; }
    /// Returns the session that computed a step of the metrics.
    /// @throws ConfigError when its settings are in no file of the run
    const RunSession& of_step(std::int64_t step) const;

private:
    std::filesystem::path folder_;
    std::vector<RunSession> sessions_;
};

/// Returns the settings that differ in a way that changes the numbers of a step, other than the learning rate and the length of
/// the schedule. Paths of equal data, times and numbers of threads do not.
std::vector<std::string> settings_that_change_bits(const ExperimentConfig& a, const ExperimentConfig& b);

}  // namespace bertpretrain
