#pragma once
// Work shared between threads in the torch-free half (below it, at::parallel_for shares torch's pool).

#include <cstddef>
#include <functional>

namespace bertpretrain {

/// Cores that this process may run on, at least 1.
std::size_t available_cores();

/// Calls body(i) for every i in [0, count), each once, on up to `threads` threads; returns when all are done.
/// The first exception that a call throws is thrown again here, after the others have stopped.
void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

}  // namespace bertpretrain
