#pragma once
// Rows plus a bias through a function of one number, over raw memory of the device; and back. A block works on a chunk of rows
// and 1,024 columns.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

enum class RowFunction { identity, gelu_erf, gelu_tanh };

template <class W>
struct BiasForward {
    std::int64_t rows, width;
    const W* x;
    const float* bias;
    W* y;
};
/// y = function(x + bias) @param quads  width is a multiple of 4, and all pointers of 16 bytes
template <class W>
void bias_forward(const BiasForward<W>& pass, RowFunction function, bool quads, cudaStream_t stream);

template <class W>
struct BiasBackward {
    std::int64_t rows, width;
    const W *dy, *x;
    const float* bias;
    W* dx;                       ///< may be `dy`, or null
    float* chunk_sums;           ///< (row_chunks(rows), width): of dx before it is rounded
    std::int64_t dx_stride = 0;  ///< elements from one row of dx to the next; 0: width
};
/// dx = dy * function'(x + bias). The identity reads neither x nor bias.
template <class W>
void bias_backward(const BiasBackward<W>& pass, RowFunction function, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
