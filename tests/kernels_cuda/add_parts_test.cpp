#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("the CUDA sum over ranks has the reference's bits, aligned or not") {
    for (const std::int64_t ranks : {1, 2, 5, 9})
        for (const std::int64_t elements : {1, 4, 1028, 2051})
            for (const at::ScalarType in : {at::kFloat, at::kBFloat16})
                for (const at::ScalarType out : {at::kFloat, at::kBFloat16})
                    for (const bool aligned : {true, false}) {
                        CAPTURE(ranks, elements, in, out, aligned);
                        const at::Tensor drawn = RandomTensors(7).normal({ranks, elements}, in);
                        const at::Tensor parts_RN = aligned ? drawn : unaligned(drawn);
                        const at::Tensor right_N = at::empty({elements}, out), sum_N = at::empty({elements}, out);
                        reference::add_parts(parts_RN, right_N);
                        cuda::add_parts(parts_RN, sum_N);
                        CHECK(same_bits(sum_N, right_N));
                    }
}
