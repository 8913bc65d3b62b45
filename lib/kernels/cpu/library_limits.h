#pragma once
// Limits the instruction set of libtorch's kernels and of the libraries inside it.

namespace bertpretrain::cpu {

/// Limits ATen, oneDNN and MKL to library_instruction_set() by setting their environment variables. Each reads its variable once,
/// on first use, so call this before any computation and before there are threads.
void limit_libraries();

}  // namespace bertpretrain::cpu
