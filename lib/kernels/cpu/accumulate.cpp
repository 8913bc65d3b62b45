#include "kernels/cpu/accumulate.h"

#include <algorithm>

#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/work_stealing.h"

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
    constexpr std::int64_t piece_elements = 65536;
    const std::int64_t elements = sum.numel();
    for_each_piece((elements + piece_elements - 1) / piece_elements, [&](std::int64_t piece) {
        const std::int64_t begin = piece * piece_elements, end = std::min(elements, begin + piece_elements);
        by_instruction_set<&accumulate>(from + begin, to + begin, end - begin);
    });
}

}  // namespace bertpretrain::cpu
