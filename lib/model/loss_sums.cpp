#include "model/loss_sums.h"

#include <ATen/ops/zeros.h>

namespace bertpretrain {

LossSums::LossSums(at::Device device, std::size_t sources)
    : sums_S4_(at::zeros({static_cast<std::int64_t>(sources), count}, at::TensorOptions(at::kDouble).device(device))) {}

LossValues LossSums::values(std::size_t source) const {
    const at::Tensor host_4 = of(source).cpu();
    const double* sums = host_4.const_data_ptr<double>();
    return {sums[0], sums[1], sums[2], sums[3]};
}

}  // namespace bertpretrain
