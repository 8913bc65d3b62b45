#pragma once
// Computes a micro-batch by the kernels in use and by plain ATen, and compares losses and gradients: faulty hardware is seen even
// by a rank that has no other rank to compare with, unless it repeats the fault in other instructions.

#include <functional>
#include <string>

#include <ATen/core/Tensor.h>

#include "model/flat_parameters.h"

namespace bertpretrain {

/// The largest difference between two computations of a micro-batch.
struct KernelDifference {
    std::string tensor;  ///< "the gradient of NAME" or "the losses"
    double error =
        0;  ///< relative: norm of the difference / norm of the reference; infinite where only the kernels in use are not finite
    double bound = 0;  ///< what rounding explains
    bool is_fault() const { return !(error <= bound); }
};

/// Calls `compute` twice, with the kernels in use and with the reference kernels, and compares the gradients that it leaves in
/// `parameters` and the sums of losses that it returns. Each gradient's difference is estimated from sums of 64 elements with
/// alternating signs, so that no copy of all gradients is needed. Gradients that are small beside the whole model's are compared
/// with that instead of with their own norm. Where plain ATen's own results are not finite, the model has diverged and the error
/// is 0. No other thread may use kernels meanwhile.
/// @param compute computes the micro-batch's gradients, and returns the sums of its losses, S x 4 @returns the tensor whose error
/// is largest relative to its bound
KernelDifference compare_with_reference(const FlatParameters& parameters, const std::function<at::Tensor()>& compute);

}  // namespace bertpretrain
