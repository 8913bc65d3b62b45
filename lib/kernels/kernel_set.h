#pragma once
// All kernels of one implementation, and which of them a process uses on each kind of device.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/function_table.h"
#include "kernels/matmul.h"

namespace bertpretrain {

/// @param longest sequence of the batch
using CountsDropout = bool(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);

struct KernelSet {
    std::string name;  ///< as tables and checkpoints have it: "cuda", "reference"
    FunctionTable functions;
    const OptimizerKernels* optimizer = nullptr;
    MatmulFunctions matmul;
    /// Whether attention drops what dropout.h's counter says, for sequences up to this length; null: always.
    CountsDropout* counts_dropout = nullptr;
};

/// Plain ATen in fp32, right on every device.
const KernelSet& reference_kernels();
/// The same with matmuls by the device's library: what runs where there are no kernels of our own.
KernelSet plain_kernels();

/// What could run on the device beside one another: the usual set first, the reference last. Empty where there is nothing to
/// choose: on a CPU, unless offer_kernels() was called for it.
std::vector<KernelSet> available_kernels(at::Device device);
/// Makes these sets the available ones on devices of this type, before the reference: how tests bring kernels that are wrong.
void offer_kernels(at::DeviceType type, std::vector<KernelSet> sets);

/// The kernels that this process runs on the device: those given to use_kernels() last, else the usual ones.
const KernelSet& kernels_for(at::Device device);
/// From now on devices of this type run these. Call it while no kernel runs; what was returned by kernels_for() stays valid.
void use_kernels(at::DeviceType type, const KernelSet& kernels);
/// Undoes use_kernels() and offer_kernels().
void use_usual_kernels(at::DeviceType type);

}  // namespace bertpretrain
