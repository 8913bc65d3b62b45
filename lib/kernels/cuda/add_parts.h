#pragma once
// The sum over ranks on raw device memory, as specified in kernels/interface/fused_functions.inc.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

template <class In, class Out>
struct AddedParts {
    const In* parts;
    std::int64_t count, elements;  ///< of a part
    Out* sum;
};
/// @param quads  whether `elements` is a multiple of 4 and both pointers are aligned to 16 bytes
template <class In, class Out>
void add_parts(const AddedParts<In, Out>& pass, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
