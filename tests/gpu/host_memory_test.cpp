// Host memory for a GPU, and torch's allocation of GPU memory.
#include <ATen/ATen.h>

#include "gpu/gpu.h"
#include "operations/device_check.h"
#include "operations/expandable_segments.h"
#include "telemetry/device_usage.h"
#include "train/save/host_buffer.h"
#include "train/start/device_batch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("page-locked memory for snapshots is not rounded up, and a GPU copies into it", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    synchronize(*device);                                          // CUDA is loaded, and has what it needs
    const std::int64_t elements = (std::int64_t{1} << 26) + 1000;  // a little above 256 MiB
    DeviceUsageMeter memory(std::nullopt, 1);
    const double bytes = static_cast<double>(elements) * 4, before = memory.sample().memory_bytes;
    const PageLock page_lock = cuda_page_lock();
    const at::Tensor buffer = host_buffer(elements, &page_lock);
    CHECK(buffer.is_pinned());
    CHECK(memory.sample().memory_bytes - before == Approx(bytes).epsilon(0.2));
    const at::Tensor values = at::arange(elements, at::TensorOptions(*device)).to(at::kFloat);
    buffer.copy_(values);
    CHECK(at::equal(buffer, values.cpu()));
}

TEST_CASE("a GPU's first allocation works, in expandable segments or fixed ones", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    INFO("expandable segments: " << (has_expandable_segments() ? "on" : "off"));
    CHECK(at::ones({1000}, at::TensorOptions(*device)).sum().item<float>() == 1000);
}

TEST_CASE("a failed allocation does not affect the next kernel", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    CHECK_FALSE(fits_in_memory([&] { at::empty({std::int64_t{1} << 36}, at::TensorOptions(*device)); }));
    CHECK(at::ones({1000}, at::TensorOptions(*device)).sum().item<float>() == 1000);
}
