// Rotary position embedding of queries and keys, in place.
#include <ATen/ATen.h>

#include "kernels/cpu/row_chunks.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {
namespace {

/// Rotates the heads of one row of queries and keys. @param sign  of the sines; -1 rotates back
template <class W>
BERTPRETRAIN_INLINE void rotate_row(W* row, std::int64_t heads, std::int64_t half, const float* cosines, const float* sines,
                                    float sign) {
    for (std::int64_t head = 0; head < heads; ++head) {
        W *low = row + head * 2 * half, *high = low + half;
#pragma omp simd
        for (std::int64_t j = 0; j < half; ++j) {
            const float a = load(low + j), b = load(high + j), sine = sign * sines[j];
            store(low + j, a * cosines[j] - b * sine);
            store(high + j, b * cosines[j] + a * sine);
        }
    }
}

}  // namespace

void rotate(at::Tensor& qkv_T3H, const at::Tensor& positions_T, const Rotary& rotary) {
    const std::int64_t T = qkv_T3H.size(0), H = qkv_T3H.size(1) / 3, D = H / rotary.heads;
    const auto* positions = positions_T.data_ptr<std::int64_t>();
    const float* angles = fp32_data(rotary.angles_PD);
    with_compute_dtype(qkv_T3H.scalar_type(), [&](auto w) {
        using W = decltype(w);
        for_row_chunks(T, [&](std::int64_t, std::int64_t first, std::int64_t end) {
            for (std::int64_t t = first; t < end; ++t) {
                const float* cosines = angles + positions[t] * D;
                by_instruction_set<&rotate_row<W>>(compute_data<W>(qkv_T3H) + t * 3 * H, 2 * rotary.heads, D / 2, cosines,
                                                   cosines + D / 2, rotary.inverse ? -1.0F : 1.0F);
            }
        });
    });
}

}  // namespace bertpretrain::cpu
