#pragma once
// The passes of kernels/interface/optimizer_kernels.h on raw device memory. A block processes one part of a run. Parts never
// cross a multiple of 4,096 elements of the slice, so sums do not depend on where a slice begins.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// A run and its tensor's factors, as a block reads them.
struct DeviceRun {
    std::int64_t begin, in_flat, elements;
    std::int64_t first_part;  ///< index of its first part, counted over all runs
    float gradient_scale, weight_decay, momentum_rate, gradient_rate;
};

/// Constants of all runs.
struct DeviceConstants {
    float beta1, one_minus_beta1, beta2, one_minus_beta2, eps, unbias1, unbias2;
};

struct DeviceRuns {
    const DeviceRun* runs;  ///< on the device, in the order of their parts
    std::int64_t run_count, part_count;
};

enum class OptimizerRule { adamw, lamb_moments, lamb_apply, lans_moments, lans_apply, stable_adamw_moments };

template <class W>
struct OptimizerSlices {
    const float* gradient;
    float *master, *exp_avg, *exp_avg_sq;
    W* compute_weights;  ///< the flat buffer; null in passes that update only moments
    double* sums;        ///< per part one (stable_adamw_moments), two (lamb_moments) or three (lans_moments)
};

/// @param quads  whether all pointers are aligned to 16 bytes
template <class W>
void optimizer_pass(OptimizerRule rule, const OptimizerSlices<W>& slices, const DeviceRuns& runs,
                    const DeviceConstants& constants, bool quads, cudaStream_t stream);

/// sums[part] = sum of squares of the part.
void sum_squares(const float* values, const DeviceRuns& runs, double* sums, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
