#pragma once
// Writes Python's pickle format, protocol 2, as torch.save does.

#include <string>

#include "archive/pt_value.h"

namespace bertpretrain {

/// Returns the content of data.pkl for a tree. Tensors become calls of torch._utils._rebuild_tensor_v2 with persistent ids
/// ('storage', torch.FloatStorage, key, 'cpu', elements). torch.load accepts all of it with weights_only=True.
std::string pickle_of(const PtValue& tree);

}  // namespace bertpretrain
