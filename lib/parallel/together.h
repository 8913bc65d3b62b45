#pragma once
// One rank's mistake is every rank's end, with one message and one exit code.

#include <functional>

#include "parallel/control_group.h"

namespace bertpretrain {

/// Runs `body` on every rank; where it throws an Error on some rank, the lowest such rank's error is thrown on all.
/// `body` must not communicate. Waits for all ranks. Other exceptions are thrown where they occur, and tell the others.
void together(ControlGroup& ranks, const std::function<void()>& body);

}  // namespace bertpretrain
