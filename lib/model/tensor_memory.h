#pragma once
// The memory of CPU tensors. A step allocates and frees gigabytes; malloc would fragment them among other allocations and put
// them on small pages.

#include <cstddef>
#include <functional>

#include "core/arena.h"

namespace bertpretrain {

/// From now on torch allocates CPU tensors from arenas of this process, so that memory freed by one step is reused by the next.
/// Existing tensors stay where they are. May be called more than once, by any thread.
void keep_tensor_memory();

/// Returns the usage of all arenas together; zeros before keep_tensor_memory(). Does not include memory that libraries allocate.
Arena::Usage tensor_memory_usage();

/// Runs `body`. Converts PyTorch's out-of-memory exceptions, also those of a GPU, to std::bad_alloc.
void with_bad_alloc(const std::function<void()>& body);

}  // namespace bertpretrain
