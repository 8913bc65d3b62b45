#pragma once
// Keeps helper threads off the core of the thread that they help, their owner, while few other threads of the machine are busy.
//
// The kernel places threads without knowing that they work together. Beside one busy process, it often leaves a helper and its
// owner on one core, and the process alone on another one. Two threads on two cores then get half of the machine instead of two
// thirds. Beside many busy processes, sharing a core is better: the thread that works has it, and the one that waits takes
// nothing.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

namespace bertpretrain {

class HelperCores {
public:
    /// @param root folder that contains /proc
    explicit HelperCores(const std::filesystem::path& root = "/") : load_(root / "proc/loadavg") {}

    /// Lets `helpers` run on all of the calling thread's cores but its current one, or on all of them while as many other threads
    /// as there are cores want to run. Called by the owner, before each task: it costs some ten nanoseconds where nothing has
    /// changed. Does nothing where there are fewer cores than threads, and for more than 8 threads, because then little is lost
    /// when two of them share a core.
    void avoid_owner(std::vector<std::jthread>& helpers);

private:
    using Time = std::chrono::steady_clock::time_point;

    bool is_crowded(std::size_t threads);
    std::size_t busy_threads() const;

    std::filesystem::path load_;
    std::optional<std::size_t> avoided_;  ///< the core on which the helpers may not run
    bool is_crowded_ = false;
    Time next_count_;  ///< when to count the machine's busy threads again
};

}  // namespace bertpretrain
