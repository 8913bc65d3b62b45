#pragma once
// Who this process is among the ranks of a run, as told by whatever started it.

#include <cstdint>
#include <string>

#include "core/environment.h"

namespace bertpretrain {

/// Set for the ranks that run_local_ranks starts.
inline constexpr const char* local_ranks_variable = "BERTPRETRAIN_LOCAL_RANKS";

/// Set for them too: the number of the open file in memory that is their store.
inline constexpr const char* local_store_variable = "BERTPRETRAIN_LOCAL_STORE";

/// What all ranks of a run know and strangers do not, at least 16 characters: the value itself, or a file whose first line it is.
inline constexpr const char* secret_variable = "BERTPRETRAIN_SECRET";
inline constexpr const char* secret_file_variable = "BERTPRETRAIN_SECRET_FILE";

/// PyTorch's: what carries Gloo's connections.
inline constexpr const char* gloo_transport_variable = "GLOO_DEVICE_TRANSPORT";

/// Set by scripts that start a command again after it has failed.
inline constexpr const char* restart_variable = "BERTPRETRAIN_RESTART";

/// Set to 1: a single process connects with itself by Gloo or NCCL, so that one device runs all code of communication.
/// For tests and benchmarks. It costs a little time and changes no result, unless gradients travel as bf16.
inline constexpr const char* force_world_variable = "BERTPRETRAIN_FORCE_WORLD";

struct Launch {
    std::string launcher =
        "none";  ///< "torchrun", "--local-ranks", "RANK and WORLD_SIZE", "Open MPI", "Slurm", "AWS Batch", "PET variables"
    std::int64_t rank = 0, world_size = 1;
    std::int64_t local_rank = 0, local_world_size = 1;  ///< among the ranks of this host
    int local_store = -1;        ///< the descriptor of --local-ranks' store, which needs no address; -1: none
    std::string master_address;  ///< of the host with the store; empty in a world of one
    std::uint16_t master_port = 0;
    bool agent_keeps_store = false;  ///< torchrun's agent does, else rank 0
    std::string secret;              ///< of ranks that meet at an address; empty: none
    std::int64_t attempt = 0;        ///< how often the launcher has started this run before
    bool again = false;              ///< this command was started before, by the launcher or a script around it

    bool forces_world = false;  ///< a world of one connects with itself: see force_world_variable

    bool on_one_host() const { return local_world_size == world_size; }
};

/// Understands torchrun (TorchElastic), plain RANK / WORLD_SIZE / MASTER_ADDR / MASTER_PORT, Open MPI, Slurm (srun), AWS Batch
/// multi-node parallel jobs, and Kubeflow's PET_* with one process per node; the first of them whose variables are there. None
/// of them: a world of one.
/// @throws ConfigError naming the variables that are missing, no numbers, or contradict each other, a secret that cannot be
/// read, and TLS for Gloo, which PyTorch does not apply
Launch read_launch(const Variables& variable = environment_variable);

}  // namespace bertpretrain
