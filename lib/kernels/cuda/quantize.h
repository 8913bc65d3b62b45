#pragma once
// Matmul operands in fp8, as they are and transposed, on raw device memory.

#include <cuda_runtime.h>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

struct Quantized {
    std::int64_t rows, width;  ///< the width is a multiple of 4, the number of rows too
    const Bf16* x;
    const float* scale;
    float* largest;
    std::uint8_t *by_row, *by_column;
};
/// @tparam F  E4m3 or E5m2 @param x aligned to 8 bytes, as the results to 4
template <class F>
void quantize(const Quantized& pass, cudaStream_t stream);

}  // namespace bertpretrain::cuda
