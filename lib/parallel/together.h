#pragma once
// Propagates an exception on one rank to all ranks, with the same message and exit code.

#include <functional>

#include "parallel/control_group.h"

namespace bertpretrain {

/// Runs `body` on every rank and blocks until all have finished. If it throws on some ranks, all ranks throw the lowest such
/// rank's error: that rank rethrows its own exception, the others throw an Error with its code, kind and message.
/// `body` must not communicate.
void together(ControlGroup& ranks, const std::function<void()>& body);

}  // namespace bertpretrain
