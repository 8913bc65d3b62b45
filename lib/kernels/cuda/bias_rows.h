#pragma once
// Elementwise function of (row + bias) or times a gate, and its backward, on raw device memory. A block processes a chunk of rows
// and 1,024 columns.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

template <class W>
struct BiasForward {
    std::int64_t rows, width;
    const W* x;
    const float* bias;
    W* y;
};
/// y = function(x + bias) @param quads  whether width is a multiple of 4 and all pointers are aligned to 16 bytes
template <class W>
void bias_forward(const BiasForward<W>& pass, RowFunction function, bool quads, cudaStream_t stream);

template <class W>
struct BiasBackward {
    std::int64_t rows, width;
    const W *dy, *x;
    const float* bias;
    W* dx;                       ///< may equal `dy`, or be null
    float* chunk_sums;           ///< (row_chunks(rows), width): column sums of dx before rounding
    std::int64_t dx_stride = 0;  ///< elements between rows of dx; 0 means width
};
/// dx = dy * function'(x + bias). With the identity, x and bias are not read.
template <class W>
void bias_backward(const BiasBackward<W>& pass, RowFunction function, bool quads, cudaStream_t stream);

/// y = function(a) * b, where a row of x is a, then b.
template <class W>
struct GatedForward {
    std::int64_t rows, width;  ///< of y
    const W* x;
    W* y;
};
template <class W>
void gated_forward(const GatedForward<W>& pass, RowFunction function, bool quads, cudaStream_t stream);

template <class W>
struct GatedBackward {
    std::int64_t rows, width;  ///< of dy
    const W *dy, *x;
    W* dx;
};
template <class W>
void gated_backward(const GatedBackward<W>& pass, RowFunction function, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
