#include "kernels/host_values.h"

#include <ATen/ATen.h>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("values copied to a device are not affected by later changes on the host") {
    std::vector<std::int64_t> values{3, -1, std::int64_t{1} << 40};
    const at::Tensor copy = copied_to(at::kCPU, values).view(at::kLong);
    const std::vector<std::int64_t> before = values;
    values.assign(values.size(), 0);
    CHECK(std::vector<std::int64_t>(copy.const_data_ptr<std::int64_t>(), copy.const_data_ptr<std::int64_t>() + copy.numel()) ==
          before);
}

TEST_CASE("copying no values to a device gives an empty tensor") {
    CHECK(copied_to(at::kCPU, std::vector<std::int32_t>()).view(at::kInt).numel() == 0);
}
