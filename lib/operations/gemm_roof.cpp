#include "operations/gemm_roof.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "core/clock.h"
#include "kernels/matmul.h"
#include "operations/device_check.h"

namespace bertpretrain {

double measured_gemm_roof(at::Device device, at::ScalarType type) {
    constexpr int repetitions = 8;
    const std::int64_t side = device.is_cpu() ? 1024 : 8192;
    const auto options = at::TensorOptions(device).dtype(type);
    // Random operands, as in training: a GPU multiplies equal numbers faster, because they use less power.
    const at::Tensor a = at::randn({side, side}, options), b = at::randn({side, side}, options);
    double best = 0;
    for (int i = 0; i < repetitions; ++i) {
        synchronize(device);
        const double begin = seconds_now();
        const at::Tensor c = product(a, b);
        synchronize(device);
        best = std::max(best, 2.0 * static_cast<double>(side * side * side) / (seconds_now() - begin));
    }
    return best;
}

}  // namespace bertpretrain
