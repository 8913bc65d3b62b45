#pragma once
// Reads this process's rank, world size and rendezvous address from its launcher's environment variables.

#include <cstdint>
#include <string>

#include "core/environment.h"

namespace bertpretrain {

/// Set by run_local_ranks for the ranks that it starts: their number.
inline constexpr const char* local_ranks_variable = "BERTPRETRAIN_LOCAL_RANKS";

/// Also set by run_local_ranks: the file descriptor of the in-memory file that serves as the ranks' store.
inline constexpr const char* local_store_variable = "BERTPRETRAIN_LOCAL_STORE";

/// Also set by run_local_ranks: how many times it has started the ranks before.
inline constexpr const char* local_attempt_variable = "BERTPRETRAIN_LOCAL_ATTEMPT";

/// The secret that all ranks of a run share, at least 16 characters: the value itself, or a file whose first line contains it.
inline constexpr const char* secret_variable = "BERTPRETRAIN_SECRET";
inline constexpr const char* secret_file_variable = "BERTPRETRAIN_SECRET_FILE";

/// PyTorch's variable that selects Gloo's transport.
inline constexpr const char* gloo_transport_variable = "GLOO_DEVICE_TRANSPORT";

/// Set by scripts that restart a command after it has failed.
inline constexpr const char* restart_variable = "BERTPRETRAIN_RESTART";

/// Set to 1, a single process connects to itself over Gloo or NCCL, so that one device runs all communication code. For tests
/// and benchmarks. It costs a little time and changes no result, unless gradients are sent as bf16.
inline constexpr const char* force_world_variable = "BERTPRETRAIN_FORCE_WORLD";

struct Launch {
    std::string launcher =
        "none";  ///< "torchrun", "--local-ranks", "RANK and WORLD_SIZE", "Open MPI", "Slurm", "AWS Batch", "PET variables"
    std::int64_t rank = 0, world_size = 1;
    std::int64_t local_rank = 0, local_world_size = 1;  ///< among the ranks of this host
    int local_store = -1;        ///< descriptor of the store of --local-ranks, which needs no address; -1: none
    std::string master_address;  ///< host of the store; empty in a world of one
    std::uint16_t master_port = 0;
    bool agent_keeps_store = false;  ///< true: torchrun's agent serves the store; false: rank 0 does
    std::string secret;              ///< shared by ranks that meet at an address; empty: none
    std::int64_t attempt = 0;        ///< how many times the launcher has started this run before
    std::int64_t unused_tasks = 1;   ///< of a Slurm job that started this process without srun, which thus trains alone
    bool again = false;              ///< whether the launcher or a script restarted this command

    bool forces_world = false;  ///< whether a world of one connects to itself: see force_world_variable

    /// Known when the ranks are connected (NodeRoute): nodes with different names, and whether tensors go in two stages. 0: not
    /// yet.
    std::int64_t nodes = 0;
    bool in_stages = false;

    bool on_one_host() const { return local_world_size == world_size; }
};

/// Supports torchrun (TorchElastic), plain RANK / WORLD_SIZE / MASTER_ADDR / MASTER_PORT, Open MPI, Slurm (srun), AWS Batch
/// multi-node parallel jobs, and Kubeflow's PET_* with one process per node. Uses the first launcher, in this order, whose
/// variables are set; without any, returns a world of one.
/// @throws ConfigError that names variables that are missing, not numbers or contradictory; also for a secret that is too short
/// or cannot be read, and for a request to use TLS with Gloo, which PyTorch does not apply
Launch read_launch(const Variables& variable = environment_variable);

}  // namespace bertpretrain
