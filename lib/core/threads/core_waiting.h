#pragma once
// How long this process's threads were ready to run without a core.

#include <optional>

namespace bertpretrain {

/// Returns the seconds that this process's threads have waited for a core since each started, added up over the threads that
/// still run. Time in which a control group's quota stops them counts. nullopt where the kernel does not report it. Source: the
/// second number of /proc/self/task/*/schedstat (nanoseconds).
std::optional<double> seconds_without_core();

}  // namespace bertpretrain
