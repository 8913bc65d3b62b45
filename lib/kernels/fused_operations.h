#pragma once
// The fused operations of the model, one header for every device; interface/fused_functions.inc has their contracts. Each runs
// the kernels in use on the device of its first argument (kernels_in_use.h). The plain-ATen functions of reference/ are their
// specification; the vectorized functions of cpu/ and the kernels of cuda/ are tested against them. Functions add to parameter
// gradients instead of overwriting them. No function synchronizes with the device.

#include "kernels/interface/fused_types.h"

namespace bertpretrain {

#define BERTPRETRAIN_OPERATION(result, name, parameters, arguments) result name parameters;
#include "kernels/interface/fused_functions.inc"

}  // namespace bertpretrain
