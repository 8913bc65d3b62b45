#include "kernels/cpu/accumulate.h"

#include "kernels/kernel_inputs.h"

using namespace bertpretrain;

TEST_CASE("a bf16 result is added to an fp32 sum exactly as its widened numbers are, for any number of elements") {
    // Vectors have 4 to 16 elements, and threads take pieces of 65,536.
    const std::int64_t elements = GENERATE(0, 1, 17, 65536, 2 * 65536 + 1003);
    testing::RandomTensors random(3);
    const at::Tensor gradient = random.normal({elements}, at::kBFloat16), sum = random.normal({elements});
    const at::Tensor expected = sum + gradient.to(at::kFloat);
    cpu::accumulate_bf16(gradient, sum);
    CHECK(at::equal(sum, expected));
}
