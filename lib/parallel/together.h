#pragma once
// Work that ranks begin and end together.

#include <chrono>
#include <functional>

#include "parallel/control_group.h"

namespace bertpretrain {

/// Runs `body` on every rank and blocks until all have finished. If it throws on some ranks, all ranks throw the lowest such
/// rank's error: that rank rethrows its own exception, the others throw an Error with its code, kind and message.
/// `body` must not communicate.
void together(ControlGroup& ranks, const std::function<void()>& body);

/// Runs `work` on rank 0 and blocks on the other ranks until it has ended, however long that takes. They notice a rank 0 that
/// hangs within the group's timeout, because it shows them in between that it is alive.
/// @param between_signs time from one sign of life to the next; clearly shorter than the timeout
/// @param work must not throw, and calls its argument often, which sends the signs
/// @throws DistributedError when a rank is lost, on rank 0 only after the work
void run_at_first(ControlGroup& ranks, std::chrono::duration<double> between_signs,
                  const std::function<void(const std::function<void()>& sign_of_life)>& work);

}  // namespace bertpretrain
