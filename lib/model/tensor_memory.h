#pragma once
// Where the CPU's tensors lie. A step takes and gives back gigabytes; from the C library they come in pieces between other
// things, on small pages.

#include <cstddef>

#include "core/arena.h"

namespace bertpretrain {

/// From now on tensors on the CPU that torch allocates lie in arenas of this process: what a step has given back, the next one
/// uses again. Tensors that exist stay where they are. May be called again, by any thread.
void keep_tensor_memory();

/// Of all arenas together; zeros before keep_tensor_memory(). What libraries take for themselves is not in it.
Arena::Usage tensor_memory_usage();

}  // namespace bertpretrain
