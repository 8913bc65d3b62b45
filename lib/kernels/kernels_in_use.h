#pragma once
// The kernel sets that exist for a type of device, and the one that this process uses.

#include <set>
#include <string>
#include <vector>

#include "kernels/interface/cuda_module.h"
#include "kernels/interface/kernel_set.h"

namespace bertpretrain {

/// Returns the GPU kernels, or null if they cannot be opened or the GPU is too old for them (logs a warning once). They are a
/// shared library next to the program. It is opened when the first CUDA tensor is used, so a CPU-only run neither links nor loads
/// CUDA.
const CudaModule* cuda_module();

/// Plain ATen in fp32; correct on every device.
const KernelSet& reference_kernels();
/// The reference kernels with matmuls by the device's library: used on devices without kernels of our own.
KernelSet plain_kernels();

/// Returns the sets to choose from on the device: the default set first, the reference last. Empty if there is no choice, which
/// is the case on a CPU unless offer_kernels() was called for it.
/// @param asked  names of sets that are returned only where they are asked for (KernelSet::only_if_asked)
std::vector<KernelSet> available_kernels(at::Device device, const std::set<std::string>& asked = {});
/// Replaces the available sets (the reference excepted) for this type of device. Tests use it to offer wrong kernels.
void offer_kernels(at::DeviceType type, std::vector<KernelSet> sets);

/// Returns the kernels in use on the device: those last passed to use_kernels(), else the default set.
const KernelSet& kernels_for(at::Device device);
/// Selects the kernels for this type of device. Call it while no kernel runs. References from kernels_for() stay valid.
void use_kernels(at::DeviceType type, const KernelSet& kernels);
/// Undoes use_kernels() and offer_kernels().
void use_usual_kernels(at::DeviceType type);

/// Returns the fused operations of kernels_for(device).
const FunctionTable& functions_for(at::Device device);
/// Returns the optimizer kernels of kernels_for(device).
const OptimizerKernels& optimizer_kernels_for(at::Device device);

}  // namespace bertpretrain
