#pragma once
// The fused operations of one implementation as a table of function pointers, so that they can be chosen at run time.

#include "kernels/implementations.h"

namespace bertpretrain {

struct FunctionTable {
    decltype(&reference::dropout_residual_norm) dropout_residual_norm;
    decltype(&reference::dropout_residual_norm_backward) dropout_residual_norm_backward;
    decltype(&reference::dropout_rows) dropout_rows;
    decltype(&reference::bias_activation) bias_activation;
    decltype(&reference::bias_activation_backward) bias_activation_backward;
    decltype(&reference::attention) attention;
    decltype(&reference::attention_backward) attention_backward;
    decltype(&reference::embedding_sum) embedding_sum;
    decltype(&reference::embedding_backward) embedding_backward;
    decltype(&reference::softmax_cross_entropy) softmax_cross_entropy;
};

/// Initializer of a FunctionTable from a namespace's functions, in the table's order.
#define BERTPRETRAIN_FUNCTIONS_OF(space)                                                                                  \
    {                                                                                                                     \
        space::dropout_residual_norm, space::dropout_residual_norm_backward, space::dropout_rows, space::bias_activation, \
            space::bias_activation_backward, space::attention, space::attention_backward, space::embedding_sum,           \
            space::embedding_backward, space::softmax_cross_entropy                                                       \
    }

/// Returns the functions that this process uses for tensors on `device`.
const FunctionTable& functions_for(at::Device device);

}  // namespace bertpretrain
