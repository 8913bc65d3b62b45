#include "core/threads/threads.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/threads/cgroup.h"

namespace bertpretrain {

namespace {

std::size_t count_cores() {
    std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) cores = static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
    if (const std::optional<double> limit = cgroup_core_limit())
        cores = std::clamp(static_cast<std::size_t>(std::ceil(*limit)), std::size_t{1}, cores);
    return cores;
}

}  // namespace

std::size_t available_cores() {
    static const std::size_t cores = count_cores();
    return cores;
}

void run_at_low_priority() {
    constexpr int niceness = 15;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);
}

void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_guard;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) body(i);
        } catch (...) {
            const std::lock_guard lock(failure_guard);
            if (!failure) failure = std::current_exception();
            next = count;
        }
    };
    std::vector<std::jthread> helpers;
    for (std::size_t t = 1; t < std::min(threads, count); ++t) helpers.emplace_back(work);
    work();
    helpers.clear();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace bertpretrain
