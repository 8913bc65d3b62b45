#pragma once
// dropout + residual + LayerNorm or RMSNorm on raw device memory, as specified in kernels/interface/fused_functions.inc. A block
// processes whole rows, each thread eight columns. Null pointers stand for undefined tensors.

#include <cuda_runtime.h>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// Wider rows do not fit a block of 512 threads.
constexpr std::int64_t widest_row = 4096;

/// The LayerNorm to apply to the residual's rows; null pointers: use the rows unchanged.
struct NormedAgain {
    const float *mean = nullptr, *rstd = nullptr, *weight = nullptr, *bias = nullptr;
};

template <class W>
struct NormForward {
    std::int64_t rows, width;
    const W* out;
    const float *out_bias, *residual;
    NormedAgain residual_norm;
    const float *weight, *bias;
    float eps;
    float centers;  ///< 1: the mean is subtracted (LayerNorm); 0: it is not (RMSNorm)
    RowDropout dropout;
    float* sum;  ///< may be null if there is no `out`; the sum is then the residual
    W* normed;
    float *normed_fp32, *mean, *rstd;
};
/// @param quads  whether width is a multiple of 4 and all pointers are aligned to 16 bytes
template <class W>
void norm_forward(const NormForward<W>& pass, bool quads, cudaStream_t stream);

template <class W>
struct NormBackward {
    std::int64_t rows, width;
    const W* d_normed;
    const float *d_normed_fp32, *d_sum_past, *sum, *mean, *rstd, *weight;
    float centers;  ///< as in NormForward
    RowDropout dropout;
    float* d_sum;
    W* d_out;
    float* chunk_sums;  ///< (row_chunks(rows), 2 or with d_out 3, width): gradients of weight, bias and out's bias
};
template <class W>
void norm_backward(const NormBackward<W>& pass, bool quads, cudaStream_t stream);

/// y = x times the dropout factors.
void dropout_rows(const float* x, float* y, std::int64_t rows, std::int64_t width, const RowDropout& dropout, bool quads,
                  cudaStream_t stream);

/// Number of threads of a block that holds one row.
constexpr std::int64_t row_threads(std::int64_t width) { return (width + warp_columns - 1) / warp_columns * warp_lanes; }

}  // namespace bertpretrain::cuda
