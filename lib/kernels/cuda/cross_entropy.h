#pragma once
// Softmax cross entropy over raw memory of the device; kernels/fused_functions.inc says what it computes.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// What the second pass over a row needs of the first.
struct RowStatistics {
    double loss;          ///< 0 where there is no label
    float largest;        ///< logit, with its bias
    float inverse_total;  ///< of exp(logit - largest)
    std::int32_t correct;
};

template <class W>
struct CrossEntropy {
    std::int64_t rows, vocabulary;
    W* logits;  ///< replaced by their gradient
    const float* bias;
    const std::int64_t* labels;
    float scale;
    RowStatistics* statistics;  ///< one per row
    float* chunk_sums;          ///< (row_chunks(rows), vocabulary): of the gradient before it is rounded
    double* totals;             ///< sum of losses, number of correct rows: added to
};
/// @param quads  vocabulary is a multiple of 4, and all pointers of 16 bytes
template <class W>
void cross_entropy(const CrossEntropy<W>& pass, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
