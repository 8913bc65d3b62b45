#pragma once
// Configures torch's GPU allocator: expandable segments, or blocks of fixed sizes.

#include <functional>

#include "core/environment.h"

namespace bertpretrain {

/// Whether to use expandable segments: yes, unless PYTORCH_ALLOC_CONF or PYTORCH_CUDA_ALLOC_CONF sets expandable_segments or
/// another allocator backend. Passes differ in their number of tokens, so that blocks of one size would stay unused while
/// another size is requested.
bool wants_expandable_segments(const Variables& variable = environment_variable);

/// Switches expandable segments on or off for later allocations; torch's other allocator settings stay.
void set_expandable_segments(bool on);
bool has_expandable_segments();

/// Tries the first allocation, with expandable segments if wants_expandable_segments(). They need virtual memory management,
/// which some virtual machines lack: if allocate() fails with them, switches them off, logs a warning and calls it again. An
/// out-of-memory error is ignored, because it is no reason to switch them off.
/// @throws any other error that allocate() throws without expandable segments
void try_first_allocation(const std::function<void()>& allocate, const Variables& variable = environment_variable);

}  // namespace bertpretrain
