#include "kernels/cpu/accumulate.h"

#include <ATen/Parallel.h>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {
namespace {

BERTPRETRAIN_INLINE void accumulate(const Bf16* gradient, float* sum, std::int64_t elements) {
#pragma omp simd
    for (std::int64_t i = 0; i < elements; ++i) sum[i] += load(gradient + i);
}

}  // namespace

void accumulate_bf16(const at::Tensor& gradient, const at::Tensor& sum) {
    const auto* from = static_cast<const Bf16*>(gradient.data_ptr());
    float* to = sum.data_ptr<float>();
    at::parallel_for(0, sum.numel(), 65536, [&](std::int64_t begin, std::int64_t end) {
        by_instruction_set<&accumulate>(from + begin, to + begin, end - begin);
    });
}

}  // namespace bertpretrain::cpu
