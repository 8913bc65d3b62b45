#pragma once
// The machine that the program runs on, as `plan` describes accelerators.

#include <ATen/core/ScalarType.h>
#include <c10/core/Device.h>

#include "operations/fabric.h"

namespace bertpretrain {

/// Returns the model's FLOP/s that training is assumed to sustain, as a share of the GEMM rate.
double sustained_share(bool on_gpu);

/// Returns the device as an accelerator called "this": the rate that training sustains is a share of the GEMM rate, which is
/// measured in about 50 ms; memory is what is free on a GPU and what the host has on a CPU; the price is unknown. A node has as
/// many accelerators as this process can use; a CPU counts as one.
/// @param type of the matmuls in training
Accelerator this_machine(at::Device device, at::ScalarType type);

}  // namespace bertpretrain
