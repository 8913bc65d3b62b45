#include "model/loss_sums.h"

#include <ATen/ops/zeros.h>

namespace bertpretrain {

LossSums::LossSums(at::Device device) : sums_4_(at::zeros({count}, at::TensorOptions(at::kDouble).device(device))) {}

LossValues LossSums::values() const {
    const at::Tensor host_4 = sums_4_.cpu();
    const double* sums = host_4.const_data_ptr<double>();
    return {sums[0], sums[1], sums[2], sums[3]};
}

}  // namespace bertpretrain
