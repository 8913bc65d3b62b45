#pragma once
// long_attention.h's kernels once more, by the matrix instructions of Hopper's warpgroups: for heads of 64 features without a
// window, on compute capability 9.0 alone. What they read and write is the same, so a forward of the one and a backward of the
// other fit together; their sums have another order. They take the place of long_attention.h's functions, and call them for other
// heads and within windows.

#include "kernels/cuda/long_attention.h"

namespace bertpretrain::cuda {

/// As long_attention_forward(), long_attention_backward_queries() and long_attention_backward_keys().
void warpgroup_attention_forward(const LongAttentionForward& pass, cudaStream_t stream);
void warpgroup_attention_backward_queries(const LongAttentionBackward& pass, cudaStream_t stream);
void warpgroup_attention_backward_keys(const LongAttentionBackward& pass, cudaStream_t stream);

/// Whether these kernels compute such attention themselves.
inline bool warpgroup_attention_takes(const AttentionInputs<Bf16>& in) { return in.head_size == 64 && !in.has_window; }

}  // namespace bertpretrain::cuda
