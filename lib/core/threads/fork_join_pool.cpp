#include "core/threads/fork_join_pool.h"

#include <chrono>
#include <utility>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bertpretrain {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

// std::atomic::wait() would do the same, but it offers its core to other processes (sched_yield) before it sleeps, and a core
// that is given away on a busy machine is lost for some milliseconds.

/// Blocks while `word` has the value `expected`, until a call of futex_wake(). May also return without a reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// Wakes up to `threads` threads that sleep in futex_wait() on `word`.
void futex_wake(std::atomic<std::uint32_t>& word, int threads) {
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

// The parts of gate_. Numbers of tasks wrap around: a helper that slept through all of them misses one task then.
constexpr std::uint32_t one_inside = 1, all_inside = 0xFFF, open = 0x1000, one_task = 0x2000;
constexpr std::uint32_t task_number(std::uint32_t gate) { return gate / one_task; }

void pause_core() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Waits without sleeping, for some time: waking a thread takes as long as a small operation, but threads that do not sleep keep
/// other processes from their cores.
class Spin {
public:
    /// Pauses, or returns false when the time is over.
    bool pauses() {
        if (const auto now = std::chrono::steady_clock::now(); end_ == Time()) end_ = now + longest;
        else if (now > end_) return false;
        for (int i = 0; i < 8; ++i) pause_core();
        return true;
    }

private:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::microseconds longest{50};
    Time end_;
};

}  // namespace

ForkJoinPool::ForkJoinPool(std::size_t threads) {
    try {
        for (std::size_t thread = 1; thread < threads; ++thread) helpers_.emplace_back([this, thread] { help(thread); });
    } catch (...) {
        stop();
        throw;
    }
}

ForkJoinPool::~ForkJoinPool() { stop(); }

void ForkJoinPool::stop() {
    stops_ = true;
    gate_ += one_task;
    futex_wake(gate_, static_cast<int>(helpers_.size()));
    helpers_.clear();  // joins them
}

void ForkJoinPool::call(std::size_t thread) {
    try {
        task_.call(task_.body, thread);
    } catch (...) {
        const std::lock_guard lock(guard_);
        if (error_ == nullptr) error_ = std::current_exception();
    }
}

void ForkJoinPool::run(const Task& task) {
    cores_.avoid_owner(helpers_);
    task_ = task;
    gate_ += one_task | open;
    if (sleepers_ > 0) futex_wake(gate_, static_cast<int>(helpers_.size()));  // all: which ones a wake reaches is not defined
    call(0);
    close();
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

/// Returns when no helper is inside and none can enter.
void ForkJoinPool::close() {
    gate_ &= ~open;
    for (Spin spin; (gate_ & all_inside) > 0;) {
        if (spin.pauses()) continue;
        owner_sleeps_ = 1;
        if ((gate_ & all_inside) > 0) futex_wait(owner_sleeps_, 1);
    }
}

void ForkJoinPool::help(std::size_t thread) {
    for (std::uint32_t last = 0;;) {
        wait_for_task(last);
        if (stops_) return;
        if (const std::uint32_t gate = gate_.fetch_add(one_inside); (gate & open) > 0) {
            last = task_number(gate);
            if (thread < task_.threads) call(thread);
        }
        leave();
    }
}

/// Returns when the gate is open for another task than `last`, or when the pool stops.
void ForkJoinPool::wait_for_task(std::uint32_t last) {
    for (Spin spin;;) {
        const std::uint32_t gate = gate_;
        if (stops_ || ((gate & open) > 0 && task_number(gate) != last)) return;
        if (spin.pauses()) continue;
        ++sleepers_;
        futex_wait(gate_, gate);
        --sleepers_;
    }
}

void ForkJoinPool::leave() {
    const std::uint32_t gate = gate_ -= one_inside;
    if ((gate & (open | all_inside)) == 0 && owner_sleeps_.exchange(0) == 1) futex_wake(owner_sleeps_, 1);
}

}  // namespace bertpretrain
