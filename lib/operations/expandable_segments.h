#pragma once
// How torch's allocator takes a GPU's memory: in segments that grow, or in blocks of fixed sizes.

#include <functional>

#include "core/environment.h"

namespace bertpretrain {

/// Whether the segments are to grow: unless PYTORCH_ALLOC_CONF or PYTORCH_CUDA_ALLOC_CONF names expandable_segments itself, or
/// another backend of the allocator. Passes differ in their number of tokens: blocks of one size would lie idle while another
/// size is asked for.
bool wants_expandable_segments(const Variables& variable = environment_variable);

/// Switches the segments on or off for later allocations; torch's other settings stay.
void set_expandable_segments(bool on);
bool has_expandable_segments();

/// Tries the first allocation, with expandable segments where they are wanted. They need virtual memory management, which some
/// virtual machines lack: where allocate() fails with them, switches them off with a warning and calls it again.
/// @throws what allocate() throws without them. That the memory is full is no reason to switch them off: nothing is thrown.
void try_first_allocation(const std::function<void()>& allocate, const Variables& variable = environment_variable);

}  // namespace bertpretrain
