#pragma once
// The kernels' names of activations.

#include <stdexcept>

#include "kernels/cuda/arguments.h"
#include "kernels/interface/fused_types.h"

namespace bertpretrain::cuda {

inline RowFunction function_of(Activation activation) {
    switch (activation) {
        case Activation::gelu_erf:
            return RowFunction::gelu_erf;
        case Activation::gelu_tanh:
            return RowFunction::gelu_tanh;
        case Activation::silu:
            return RowFunction::silu;
    }
    throw std::logic_error("unknown activation");
}

}  // namespace bertpretrain::cuda
