// Shared by all kernels, so that one switch is all of theirs.
#include <atomic>

#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

std::atomic<bool> wants_early = false;

}  // namespace

void launch_early(bool early) { wants_early = early; }

bool launches_early() {
    constexpr int hopper = 90;
    return wants_early && compute_capability() >= hopper;
}

}  // namespace bertpretrain::cuda
