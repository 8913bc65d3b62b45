#pragma once
// Notices that other processes or threads take the cores that a run computes on.

#include <optional>
#include <string>

namespace bertpretrain {

/// Compares the time that this process's threads waited for a core with the time that passed.
class CoreContention {
public:
    /// @param threads that compute
    explicit CoreContention(int threads) : threads_(threads) {}

    /// Call it after each step.
    /// @param now seconds of a steady clock
    /// @param waited as seconds_without_core()
    /// @returns a warning when the threads waited for more than 10 % of the last 20 seconds or more, at most one per hour
    std::optional<std::string> add(double now, std::optional<double> waited);

private:
    int threads_;
    std::optional<double> began_, waited_before_, warned_;
};

}  // namespace bertpretrain
