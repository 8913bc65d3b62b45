#pragma once
// Rotary position embedding on raw device memory, as specified in kernels/interface/fused_functions.inc.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

template <class W>
struct RotatedRows {
    std::int64_t rows, stride;  ///< elements between rows
    std::int64_t heads, half;   ///< of queries and keys together; half of a head's features
    const std::int64_t* positions;
    const float* angles;  ///< per position: `half` cosines, then sines
    float sign;           ///< of the sines; -1 rotates back
    W* at;
};
/// @param quads  whether `half` is a multiple of 4 and all pointers are aligned to 16 bytes
template <class W>
void rotate_rows(const RotatedRows<W>& pass, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
