#pragma once
// Tests that need a GPU say so and pass where there is none.

#include "kernels/cuda_module.h"
#include "kernels/kernel_inputs.h"
#include "train/make_trainer.h"

namespace bertpretrain::testing {

/// The GPU, or nothing: then the test has said that it is skipped.
inline std::optional<at::Device> gpu_or_skip() {
    static const at::Device device = device_named("auto", 0);
    if (device.is_cuda()) return device;
    WARN("skipped: there is no GPU here");
    return std::nullopt;
}

}  // namespace bertpretrain::testing
