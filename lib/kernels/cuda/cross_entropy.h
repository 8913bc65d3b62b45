#pragma once
// Softmax cross entropy on raw device memory, as specified in kernels/fused_functions.inc.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// Results of the first pass over a row that the second pass needs.
struct RowStatistics {
    double loss;          ///< 0 if the row has no label
    float largest;        ///< largest logit, with its bias
    float inverse_total;  ///< 1 / sum of exp(logit - largest)
    std::int32_t correct;
};

template <class W>
struct CrossEntropy {
    std::int64_t rows, vocabulary;
    W* logits;  ///< replaced by their gradients
    const float* bias;
    const std::int64_t* labels;
    float scale;
    RowStatistics* statistics;  ///< one per row
    float* chunk_sums;          ///< (row_chunks(rows), vocabulary): column sums of the gradient before rounding
    double* totals;             ///< accumulates {sum of losses, number of correct rows}
};
/// @param quads  whether vocabulary is a multiple of 4 and all pointers are aligned to 16 bytes
template <class W>
void cross_entropy(const CrossEntropy<W>& pass, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
