#include "model/modern/rotary_angles.h"

#include <ATen/ATen.h>

namespace bertpretrain::modern {

at::Tensor rotary_angles(double theta, std::int64_t positions, std::int64_t head_size, at::Device device) {
    const at::Tensor exponent_F = at::arange(0, head_size, 2, at::kLong).to(at::kFloat) / head_size;
    const at::Tensor frequency_F = 1.0 / at::pow(theta, exponent_F);
    const at::Tensor angle_PF = at::arange(positions, at::kLong).to(at::kFloat).unsqueeze(1) * frequency_F;
    // the functions of float64 give the same bits on every processor, those of fp32 do not
    const at::Tensor exact_PF = angle_PF.to(at::kDouble);
    return at::cat({exact_PF.cos(), exact_PF.sin()}, 1).to(at::kFloat).to(device);
}

}  // namespace bertpretrain::modern
