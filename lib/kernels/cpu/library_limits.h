#pragma once
// libtorch's own kernels, and those of the libraries inside it, under the limit that ours obey.

namespace bertpretrain::cpu {

/// Lets ATen, oneDNN and MKL use no more than library_instruction_set(). Each looks at its environment variable once, at its
/// first use: this comes before anything is computed, and before there are threads.
void limit_libraries();

}  // namespace bertpretrain::cpu
