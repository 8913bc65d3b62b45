#pragma once
// Lets a thread sleep until another thread changes a word of memory.
//
// std::atomic::wait() would do the same, but it offers its core to other processes (sched_yield) before it sleeps, and a core
// that is given away on a busy machine is lost for some milliseconds.

#include <atomic>
#include <cstdint>

namespace bertpretrain {

/// Blocks while `word` has the value `expected`, until a call of futex_wake(). May also return without a reason, so call it in a
/// loop.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected);

/// Wakes up to `threads` threads that sleep in futex_wait() on `word`.
void futex_wake(std::atomic<std::uint32_t>& word, int threads);

}  // namespace bertpretrain
