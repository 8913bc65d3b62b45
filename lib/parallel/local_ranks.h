#pragma once
// --local-ranks: starts several ranks on this host.

#include <cstdint>

namespace bertpretrain {

/// Starts this process's command line `ranks` times, with environment variables that give each its rank, and blocks until all
/// have ended. Forwards stop signals (core/signals.h) and SIGUSR1 to them. When a rank fails, the others have ten seconds to
/// notice and are then terminated. Each rank gets an equal share of the physical CPU cores unless OMP_NUM_THREADS is set.
/// @returns the exit code of the run: that of the first cause where ranks ended for different reasons; 5 when a rank was killed,
/// also while the ranks were stopping, because its unsaved work is lost
/// @param max_restarts how often to start all ranks again after a rank was lost, killed or crashed (exit codes 5 and 70), but not
///        after a stop signal
/// @throws DistributedError when a rank cannot be started
int run_local_ranks(std::int64_t ranks, std::int64_t max_restarts = 0);

}  // namespace bertpretrain
