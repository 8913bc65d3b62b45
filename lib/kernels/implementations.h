#pragma once
// The same operations, once per implementation: reference/ is plain ATen on any device, cpu/ is vectorized.

#include "kernels/fused_operations.h"

namespace bertpretrain::reference {
#include "kernels/fused_functions.inc"
}  // namespace bertpretrain::reference

namespace bertpretrain::cpu {
#include "kernels/fused_functions.inc"
}  // namespace bertpretrain::cpu
