#pragma once
// Matmul operands in fp8, as they are and transposed, on raw device memory. What an operand is computed from is read once, and
// the operand is written in fp8 alone.

#include <cuda_runtime.h>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// Addresses of bf16 numbers are multiples of 8 bytes, of fp32 numbers of 16.
struct Quantized : Fp8Rows {
    const Bf16* x;
};

/// Rows of a tile, whose column sums are one chunk.
constexpr std::int64_t quantized_tile_rows = 128;

/// What else an operand is computed from, if it is more than x.
struct QuantizedActivation {
    RowFunction function;
    bool is_gated;
    const float* bias;  ///< not of a gated one
    const Bf16* dy;     ///< null: the operand is the activation; else the gradient of x
    float* tile_sums;   ///< then column sums before rounding (tiles, width), or null
};

/// Rounds x to e4m3, or to e5m2.
void quantize(const Quantized& pass, bool is_e4m3, cudaStream_t stream);
/// Rounds an activation to e4m3, or its gradient to e5m2.
void quantize_activation(const Quantized& pass, const QuantizedActivation& activation, cudaStream_t stream);

}  // namespace bertpretrain::cuda
