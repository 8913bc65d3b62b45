#include "kernels/kernel_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("parts are added in fp32 from the first to the last, and the sum is rounded once") {
    for (const std::int64_t ranks : {1, 2, 7})
        for (const std::int64_t elements : {1, 3, 2048, 5001})
            for (const at::ScalarType in : {at::kFloat, at::kBFloat16})
                for (const at::ScalarType out : {at::kFloat, at::kBFloat16}) {
                    const at::Tensor parts_RN = RandomTensors(static_cast<std::uint64_t>(ranks)).normal({ranks, elements}, in);
                    const at::Tensor parts_fp32 = parts_RN.to(at::kFloat);
                    const auto parts = parts_fp32.accessor<float, 2>();
                    const at::Tensor right_N = at::empty({elements});
                    for (std::int64_t i = 0; i < elements; ++i) {
                        float sum = parts[0][i];
                        for (std::int64_t r = 1; r < ranks; ++r) sum += parts[r][i];
                        right_N[i] = sum;
                    }
                    for (const Operations& operations : both_implementations) {
                        CAPTURE(operations.name, ranks, elements, in, out);
                        const at::Tensor sum_N = at::empty({elements}, out);
                        operations.add_parts(parts_RN, sum_N);
                        CHECK(same_bits(sum_N, right_N.to(out)));
                    }
                }
}
