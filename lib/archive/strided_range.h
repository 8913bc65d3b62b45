#pragma once
// Maps a range of a tensor's elements to runs in its storage.

#include <cstdint>
#include <functional>

#include "archive/pt_value.h"

namespace bertpretrain {

/// Calls visit(position, length, stride) for runs of the storage that together are elements [first, first + count) of the tensor,
/// in row-major order. A contiguous tensor gives one run of stride 1.
/// @throws std::logic_error when the tensor has fewer elements
void for_each_run(const PtTensor& tensor, std::int64_t first, std::int64_t count,
                  const std::function<void(std::int64_t position, std::int64_t length, std::int64_t stride)>& visit);

}  // namespace bertpretrain
