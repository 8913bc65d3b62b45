#pragma once
// --local-ranks: starts several ranks on this host.

#include <cstdint>
#include <functional>
#include <string>

namespace bertpretrain {

/// A rank that a signal ended, other than those with which its launcher ends ranks.
struct KilledRank {
    std::int64_t rank = 0;
    int signal = 0;
};
std::string text_of(const KilledRank& killed);

/// Called after all ranks have ended, with how many restarts there were before.
using WhenKilled = std::function<void(const KilledRank&, std::int64_t attempt)>;

/// Starts this process's command line `ranks` times, with environment variables that give each its rank, and blocks until all
/// have ended. Forwards stop signals (core/signals.h) and SIGUSR1 to them. When a rank fails, the others have ten seconds to
/// notice and are then terminated. Each rank gets an equal share of the physical CPU cores unless OMP_NUM_THREADS is set.
/// @returns the exit code of the run: that of the first cause where ranks ended for different reasons; 5 when a rank was killed,
/// also while the ranks were stopping, because its unsaved work is lost
/// @param max_restarts how often to start all ranks again after a rank was lost, killed or crashed (exit codes 5 and 70), but not
///        after a stop signal
/// @param when_killed called for the first rank of an attempt that was killed, if that ended the attempt; it is also logged
/// @throws DistributedError when a rank cannot be started
int run_local_ranks(std::int64_t ranks, std::int64_t max_restarts = 0, const WhenKilled& when_killed = {});

}  // namespace bertpretrain
