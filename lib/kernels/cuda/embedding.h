#pragma once
// Sums of embedding rows, and the backward into the tables, on raw device memory.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

template <class W>
struct EmbeddingSum {
    std::int64_t tokens, width;
    const std::int64_t *ids, *positions, *types;
    const W *word, *position, *type;  ///< tables; null: those of positions and types add nothing
    float* sum;
};
/// @param quads  whether width is a multiple of 4 and all pointers are aligned to 16 bytes
template <class W>
void embedding_sum(const EmbeddingSum<W>& pass, bool quads, cudaStream_t stream);

/// Number of tokens per chunk. The tokens are sorted by index (stable) and split into chunks. Both the number of chunks and
/// their size are limited, so that even a table row used by all tokens is summed quickly.
constexpr std::int64_t tokens_per_chunk(std::int64_t tokens) { return tokens > 32 * 512 ? (tokens + 511) / 512 : 32; }

struct EmbeddingScatter {
    std::int64_t tokens, width;
    const std::int64_t *indices, *order;  ///< both sorted by index; `order` holds each one's token number
    const float* d_sum;
    float* pieces;  ///< (chunks, 2, width): partial sums of rows that continue from the previous chunk, and into the next
    float* d_table;
};
void embedding_scatter(const EmbeddingScatter& pass, bool quads, cudaStream_t stream);

}  // namespace bertpretrain::cuda
