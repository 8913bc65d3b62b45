#include "kernels/cuda/attention_choice.h"

#include "kernels/cuda/any_attention.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention.h"
#include "kernels/cuda/short_attention.h"

namespace bertpretrain::cuda {
namespace {

bool flash_takes(const AttentionSize& size) {
    return size.compute_dtype == at::kBFloat16 && size.head_size % 8 == 0 && size.head_size <= 256;
}

}  // namespace

AttentionKernels own_attention_kernels(const AttentionSize& size) {
    const std::size_t shared = shared_memory_of_block();
    const bool is_bf16 = size.compute_dtype == at::kBFloat16;
    if (is_bf16 && size.longest <= longest_short_sequence && short_attention_takes(size.head_size, shared))
        return AttentionKernels::short_sequences;
    if (is_bf16 && size.longest <= longest_long_sequence && long_attention_takes(size.head_size, shared))
        return AttentionKernels::long_sequences;
    if (any_attention_takes(size.longest, size.head_size, shared)) return AttentionKernels::any;
    return AttentionKernels::reference;
}

AttentionKernels attention_kernels(const AttentionSize& size) {
    const AttentionKernels own = own_attention_kernels(size);
    return !on_tensor_cores(own) && flash_takes(size) ? AttentionKernels::flash : own;
}

AttentionKernels flash_attention_kernels(const AttentionSize& size) {
    return flash_takes(size) ? AttentionKernels::flash : own_attention_kernels(size);
}

}  // namespace bertpretrain::cuda
