#include "train/audit/cross_check/gradient_digest.h"

#include <ATen/ATen.h>

#include "gpu/gpu.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("on a GPU a tensor has the digest that it has on the CPU", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
        const at::Tensor values = at::randn({5'000'001}).to(type);  // more than one chunk
        CHECK(digest_of(values.to(*device)).item<std::int64_t>() == digest_of(values).item<std::int64_t>());
    }
}
