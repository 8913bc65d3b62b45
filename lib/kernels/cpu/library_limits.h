#pragma once
// Limits the instruction set and the threads of libtorch's kernels and of the libraries inside it.

namespace bertpretrain::cpu {

/// Limits ATen, oneDNN and MKL to library_instruction_set() by setting their environment variables. Each reads its variable once,
/// on first use, so call this before any computation and before there are threads.
void limit_libraries();

/// Limits the threads of operations to the physical cores that this process may use (available_physical_cores()), unless
/// OMP_NUM_THREADS or MKL_NUM_THREADS is set: libtorch does not know the CPU quotas of containers. Call it after
/// limit_libraries().
void limit_threads();

}  // namespace bertpretrain::cpu
