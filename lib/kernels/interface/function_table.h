#pragma once
// The fused operations of one implementation as a table of function pointers, so that they can be chosen at run time.

#include "kernels/interface/fused_types.h"

namespace bertpretrain {

struct FunctionTable {
#define BERTPRETRAIN_OPERATION(result, name, parameters, arguments) result(*name) parameters;
#include "kernels/interface/fused_functions.inc"
};

}  // namespace bertpretrain
