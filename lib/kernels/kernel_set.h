#pragma once
// The kernel sets (all kernels of one implementation) and the set that a process uses on each type of device.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/function_table.h"
#include "kernels/matmul.h"

namespace bertpretrain {

/// Returns whether attention draws its dropout masks from the counters of dropout.h.
/// @param longest longest sequence of the batch
using CountsDropout = bool(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);

struct KernelSet {
    std::string name;  ///< as printed in tables and stored in checkpoints: "cuda", "reference"
    FunctionTable functions;
    const OptimizerKernels* optimizer = nullptr;
    MatmulFunctions matmul;
    /// Whether attention uses counter-based dropout; null: always.
    CountsDropout* counts_dropout = nullptr;
};

/// Plain ATen in fp32; correct on every device.
const KernelSet& reference_kernels();
/// The reference kernels with matmuls by the device's library: used on devices without kernels of our own.
KernelSet plain_kernels();

/// Returns the sets to choose from on the device: the default set first, the reference last. Empty if there is no choice, which
/// is the case on a CPU unless offer_kernels() was called for it.
std::vector<KernelSet> available_kernels(at::Device device);
/// Replaces the available sets (the reference excepted) for this type of device. Tests use it to offer wrong kernels.
void offer_kernels(at::DeviceType type, std::vector<KernelSet> sets);

/// Returns the kernels in use on the device: those last passed to use_kernels(), else the default set.
const KernelSet& kernels_for(at::Device device);
/// Selects the kernels for this type of device. Call it while no kernel runs. References from kernels_for() stay valid.
void use_kernels(at::DeviceType type, const KernelSet& kernels);
/// Undoes use_kernels() and offer_kernels().
void use_usual_kernels(at::DeviceType type);

}  // namespace bertpretrain
