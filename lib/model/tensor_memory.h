#pragma once
// Where the CPU's tensors lie. A step takes and gives back gigabytes; from the C library they come in pieces between other
// things, on small pages.

#include <cstddef>
#include <functional>

#include "core/arena.h"

namespace bertpretrain {

/// From now on tensors on the CPU that torch allocates lie in arenas of this process: what a step has given back, the next one
/// uses again. Tensors that exist stay where they are. May be called again, by any thread.
void keep_tensor_memory();

/// Of all arenas together; zeros before keep_tensor_memory(). What libraries take for themselves is not in it.
Arena::Usage tensor_memory_usage();

/// Runs `body`. What PyTorch throws when memory runs out, a GPU's too, leaves it as std::bad_alloc.
void with_bad_alloc(const std::function<void()>& body);

}  // namespace bertpretrain
