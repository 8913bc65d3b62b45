#pragma once
// The outermost frame of both programs.

#include <functional>

namespace bertpretrain {

/// Runs `body` and turns whatever it throws into one message on standard error and the documented exit code.
int run_guarded(const std::function<int()>& body);

}  // namespace bertpretrain
