// The sum over ranks, by the thread that asks for it: it runs beside the model's threads.
#include <algorithm>
#include <array>

#include "kernels/cpu/row_chunks.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {
namespace {

/// Number of elements per chunk: the fp32 sums stay in the L1 cache while the parts are added.
constexpr std::int64_t chunk_elements = 2048;

template <class In, class Out>
BERTPRETRAIN_INLINE void add_rows(const In* parts, std::int64_t count, std::int64_t elements, Out* sum) {
    std::array<float, chunk_elements> total;
    for (std::int64_t begin = 0; begin < elements; begin += chunk_elements) {
        const std::int64_t chunk = std::min(chunk_elements, elements - begin);
        for (std::int64_t i = 0; i < chunk; ++i) total[static_cast<std::size_t>(i)] = load(parts + begin + i);
        for (std::int64_t r = 1; r < count; ++r) {
            const In* const part = parts + r * elements + begin;
#pragma omp simd
            for (std::int64_t i = 0; i < chunk; ++i) total[static_cast<std::size_t>(i)] += load(part + i);
        }
        for (std::int64_t i = 0; i < chunk; ++i) store(sum + begin + i, total[static_cast<std::size_t>(i)]);
    }
}

}  // namespace

void add_parts(const at::Tensor& parts_RN, const at::Tensor& sum_N) {
    with_compute_dtype(parts_RN.scalar_type(), [&](auto in) {
        with_compute_dtype(sum_N.scalar_type(), [&](auto out) {
            using In = decltype(in);
            using Out = decltype(out);
            by_instruction_set<&add_rows<In, Out>>(compute_data<In>(parts_RN), parts_RN.size(0), sum_N.numel(),
                                                   compute_data<Out>(sum_N));
        });
    });
}

}  // namespace bertpretrain::cpu
