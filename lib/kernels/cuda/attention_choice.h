#pragma once
// Chooses the kernels that compute attention. Forward, backward and the question where dropout masks come from all ask here, so
// their answers agree. The choice depends on the current device's shared memory per block, which differs: 99 KiB on GeForce
// RTX 30 to 50, A10 and L40S, 163 KiB on A100, 227 KiB on H100 and B200.

#include <cstdint>

#include <c10/core/ScalarType.h>

namespace bertpretrain::cuda {

enum class AttentionKernels {
    short_sequences,  ///< short_attention.h
    long_sequences,   ///< long_attention.h
    flash,            ///< libtorch's flash attention
    any,              ///< any_attention.h
    reference,        ///< plain ATen
};

/// What the choice depends on, besides the device. All kernels take a window (Attention::window).
struct AttentionSize {
    std::int64_t longest;    ///< tokens of the longest sequence
    std::int64_t head_size;  ///< features
    at::ScalarType compute_dtype;
};

/// Returns the first kernels of our own that support this size on the current device: short_sequences (bf16, heads of 32, 64 or
/// 128 features, at most 128 tokens), long_sequences (bf16, heads of 32 or 64, at most 8,192 tokens), any (heads of at most 256,
/// at most 1,024 tokens; less where shared memory ends earlier). `reference` if none does.
AttentionKernels own_attention_kernels(const AttentionSize& size);

/// Returns own_attention_kernels(), except that flash attention is preferred to `any` and `reference` where it supports the size.
AttentionKernels attention_kernels(const AttentionSize& size);

/// Returns flash, or own_attention_kernels() where flash attention does not support the size.
AttentionKernels flash_attention_kernels(const AttentionSize& size);

/// Whether these are our own kernels for tensor cores.
constexpr bool on_tensor_cores(AttentionKernels kernels) {
    return kernels == AttentionKernels::short_sequences || kernels == AttentionKernels::long_sequences;
}

/// Whether these kernels draw dropout masks from the counters of kernels/interface/dropout.h: all but flash attention do.
constexpr bool counts_dropout(AttentionKernels kernels) { return kernels != AttentionKernels::flash; }

}  // namespace bertpretrain::cuda
