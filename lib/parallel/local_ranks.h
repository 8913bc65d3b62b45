#pragma once
// Several ranks on this host, started by the program itself.

#include <cstdint>

namespace bertpretrain {

/// Starts this very command line `ranks` times, with the environment that says who each is, and waits for all. Signals that ask
/// for an end (core/signals.h), and SIGUSR1, are passed on. When one fails, the others are given ten seconds to notice, then
/// ended. Each gets an equal share of the processors unless OMP_NUM_THREADS says otherwise.
/// @returns the exit code of the run: the cause, where ranks ended for different reasons; 5 when a rank was killed, also while
/// the ranks were asked to stop: what it had not saved is lost
int run_local_ranks(std::int64_t ranks);

}  // namespace bertpretrain
