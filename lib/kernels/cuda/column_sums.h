#pragma once
// The second stage of column sums: adds up the sums of the row chunks, or of the tiles of sequences, in order.

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

/// total[column] += sum over all tiles of tile_sums[tile][column], in the order in which add_column_sums() would add
/// `parts_of_longest` chunks per sequence, of which those after the sequence's end are zeros.
struct TileSums {
    const float* tile_sums;
    std::int64_t rows;  ///< of a tile
    std::int64_t sequences, parts_of_longest, columns;
    const std::int64_t *starts_B1, *first_tile_B;
    float* total;
};
void add_tile_sums(const TileSums& sums, cudaStream_t stream);

}  // namespace bertpretrain::cuda
