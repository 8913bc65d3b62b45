#pragma once
// Python's pickle format, protocol 2, as torch.save writes it.

#include <string>

#include "archive/pt_value.h"

namespace bertpretrain {

/// The content of data.pkl for a tree: tensors become calls of torch._utils._rebuild_tensor_v2 on persistent ids
/// ('storage', torch.FloatStorage, key, 'cpu', elements). All of it is on the list that weights_only=True allows.
std::string pickle_of(const PtValue& tree);

}  // namespace bertpretrain
