#pragma once
// Checks machines, network and files before a long job, and runs the job itself for a few steps.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "operations/collective_table.h"
#include "operations/findings.h"
#include "parallel/launch_environment.h"
#include "plan/training_phases.h"
#include "preflight/device_checks.h"
#include "preflight/dry_run.h"

namespace bertpretrain {

struct PreflightRequest {
    std::filesystem::path run_folder;       ///< whose disk is checked; nothing is left there
    std::int64_t repetitions = 20;          ///< of each tensor operation
    double slow = 0.7;                      ///< share of the ranks' median below which a rank counts as slow
    std::optional<std::int64_t> max_bytes;  ///< largest tensor of the collectives; nothing: 64 MiB on CPUs, 1 GiB on GPUs
    std::string require_transport;          ///< "efa", "infiniband" or "sockets", between hosts; empty: any
    DryRunLength dry_run;
    std::vector<TrainingPhase> later_phases;  ///< of which only shards and memory are checked
};

struct PreflightResult {
    std::vector<std::string> hosts;  ///< by rank
    std::vector<Finding> findings;
    std::vector<OperationRates> rates;
    Proof proof;                               ///< of this rank's kernels
    std::vector<CollectiveTable> collectives;  ///< empty for one rank
    std::optional<DryRun> dry_run;             ///< nothing if an earlier check failed
};

/// Connects the ranks and runs all checks. All ranks call it together. A failed check does not stop the others, but there is no
/// dry run then. Results are complete on rank 0; all ranks have the same findings, and so the same exit code.
/// @throws ConfigError for settings that no check can run with @throws DistributedError when a peer or the network fails
PreflightResult run_preflight(const RequestedExperiment& experiment, const PreflightRequest& request, const Launch& launch);

}  // namespace bertpretrain
