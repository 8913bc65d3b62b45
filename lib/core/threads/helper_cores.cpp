#include "core/threads/helper_cores.h"

#include <fstream>

#include <pthread.h>
#include <sched.h>

#include "core/threads/threads.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_helpers = 7;  // of pools that keep their helpers off a core

/// Returns the core on which the calling thread runs now, or nullopt where a cpu_set_t has no place for it.
std::optional<std::size_t> current_core() {
    const int core = ::sched_getcpu();
    if (core < 0 || core >= CPU_SETSIZE) return std::nullopt;
    return static_cast<std::size_t>(core);
}

}  // namespace

void HelperCores::avoid_owner(std::vector<std::jthread>& helpers) {
    if (helpers.empty() || helpers.size() > most_helpers) return;
    const auto core = is_crowded(helpers.size() + 1) ? std::nullopt : current_core();
    if (core == avoided_) return;
    avoided_ = core;
    cpu_set_t cores;
    if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return;
    if (core && CPU_COUNT(&cores) > static_cast<int>(helpers.size())) CPU_CLR(*core, &cores);
    for (std::jthread& helper : helpers) ::pthread_setaffinity_np(helper.native_handle(), sizeof cores, &cores);
}

/// Returns whether at least as many threads are busy beside the pool's `threads` as there are cores.
bool HelperCores::is_crowded(std::size_t threads) {
    if (const auto now = std::chrono::steady_clock::now(); now >= next_count_) {
        next_count_ = now + std::chrono::milliseconds(100);
        is_crowded_ = busy_threads() >= threads + available_cores();
    }
    return is_crowded_;
}

/// Returns how many threads of the machine run or wait for a core now; 0 where the kernel does not report it. Source: the fourth
/// field of /proc/loadavg ("2/345").
std::size_t HelperCores::busy_threads() const {
    std::ifstream file(load_);
    double average = 0;
    std::size_t threads = 0;
    file >> average >> average >> average >> threads;
    return threads;
}

}  // namespace bertpretrain
