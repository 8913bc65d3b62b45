#include "parallel/rank_sum.h"

#include <algorithm>
#include <array>

#include <ATen/Dispatch.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Number of elements per chunk: the fp32 sums stay in the L1 cache while the ranks are added.
constexpr std::int64_t chunk_elements = 2048;

template <class In, class Out>
void add(const In* parts, std::int64_t ranks, std::int64_t elements, Out* output) {
    std::array<float, chunk_elements> sum{};
    for (std::int64_t begin = 0; begin < elements; begin += chunk_elements) {
        const std::int64_t count = std::min(chunk_elements, elements - begin);
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const In* part = parts + rank * elements + begin;
            if (rank == 0) std::transform(part, part + count, sum.begin(), [](In x) { return static_cast<float>(x); });
            else
                std::transform(part, part + count, sum.begin(), sum.begin(),
                               [](In x, float total) { return total + static_cast<float>(x); });
        }
        std::transform(sum.begin(), sum.begin() + count, output + begin, [](float x) { return static_cast<Out>(x); });
    }
}

template <class In>
void add_into(const at::Tensor& parts_RN, std::int64_t ranks, const at::Tensor& output_N) {
    const std::int64_t elements = output_N.numel();
    if (output_N.scalar_type() == at::kFloat)
        add(parts_RN.const_data_ptr<In>(), ranks, elements, output_N.mutable_data_ptr<float>());
    else add(parts_RN.const_data_ptr<In>(), ranks, elements, output_N.mutable_data_ptr<at::BFloat16>());
}

}  // namespace

void add_in_rank_order(const at::Tensor& parts_RN, std::int64_t ranks, const at::Tensor& output_N) {
    check(parts_RN.numel() == ranks * output_N.numel(), parts_RN.numel(), " elements from ", ranks, " ranks summed into ",
          output_N.numel());
    if (parts_RN.scalar_type() == at::kFloat) add_into<float>(parts_RN, ranks, output_N);
    else add_into<at::BFloat16>(parts_RN, ranks, output_N);
}

}  // namespace bertpretrain
