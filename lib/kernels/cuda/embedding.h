#pragma once
// Sums of embedding rows and the way back into the tables, over raw memory of the device.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

template <class W>
struct EmbeddingSum {
    std::int64_t tokens, width;
    const std::int64_t *ids, *positions, *types;
    const W *word, *position, *type;  ///< tables
    float* sum;
};
/// @param quads  width is a multiple of 4, and all pointers of 16 bytes
template <class W>
void embedding_sum(const EmbeddingSum<W>& pass, bool quads, cudaStream_t stream);

/// Tokens in the order of their indices, equal ones in their own order, are cut into this many a chunk. Few enough chunks, and
/// few enough tokens in each, that even a row of the table that all tokens share is no long wait.
constexpr std::int64_t tokens_per_chunk(std::int64_t tokens) { return tokens > 32 * 512 ? (tokens + 511) / 512 : 32; }

struct EmbeddingScatter {
    std::int64_t tokens, width;
    const std::int64_t *indices, *order;  ///< both sorted by index; `order` says which token each is
    const float* d_sum;
    float* pieces;  ///< (chunks, 2, width): sums of rows that go on from the chunk before, and into the next
    float* d_table;
};
void embedding_scatter(const EmbeddingScatter& pass, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
