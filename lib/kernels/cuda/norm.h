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

/// @tparam S  of the residual's rows and the sum: float, or Bf16 if W is Bf16
template <class W, class S>
struct NormForward {
    std::int64_t rows, width;
    const W* out;
    const float* out_bias;
    const S* residual;
    NormedAgain residual_norm;
    const float *weight, *bias;
    float eps;
    float centers;  ///< 1: the mean is subtracted (LayerNorm); 0: it is not (RMSNorm)
    RowDropout dropout;
    S* sum;  ///< may be null if there is no `out`; the sum is then the residual
    W* normed;
    float *normed_fp32, *mean, *rstd;
    Fp8Rows normed_fp8{};  ///< in e4m3, instead of normed; of bf16 and with quads alone
};
/// @param quads  whether width is a multiple of 4 and all pointers are aligned to 16 bytes
template <class W, class S>
void norm_forward(const NormForward<W, S>& pass, bool quads, cudaStream_t stream);

template <class W, class S>
struct NormBackward {
    std::int64_t rows, width;
    const W* d_normed;
    const S *d_residual, *d_sum_past, *sum;
    const float *mean, *rstd, *weight;
    float centers;  ///< as in NormForward
    RowDropout dropout;
    bool has_out;  ///< whether there was an `out`, which has a gradient
    S* d_sum;
    W* d_out;
    float* chunk_sums;    ///< (row_chunks(rows), 2 or with d_out 3, width): gradients of weight, bias and out's bias
    Fp8Rows d_out_fp8{};  ///< in e5m2, instead of d_out; of bf16 and with quads alone
};
template <class W, class S>
void norm_backward(const NormBackward<W, S>& pass, bool quads, cudaStream_t stream);

/// y = x times the dropout factors.
void dropout_rows(const float* x, float* y, std::int64_t rows, std::int64_t width, const RowDropout& dropout, bool quads,
                  cudaStream_t stream);

/// Number of threads of a block that holds one row.
constexpr std::int64_t row_threads(std::int64_t width) { return (width + warp_columns - 1) / warp_columns * warp_lanes; }

}  // namespace bertpretrain::cuda
