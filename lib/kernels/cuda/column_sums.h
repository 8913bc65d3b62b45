#pragma once
// The second stage of column sums: adds up the sums of the row chunks, in order.

#include <cuda_runtime.h>

#include <cstdint>

namespace bertpretrain::cuda {

/// totals[kind][column] += sum over chunks of chunk_sums[chunk][kind][column]
struct ColumnSums {
    const float* chunk_sums;
    std::int64_t chunks, kinds, columns;
    float* totals[3];  ///< by kind; null: not needed
};
void add_column_sums(const ColumnSums& sums, cudaStream_t stream);

}  // namespace bertpretrain::cuda
