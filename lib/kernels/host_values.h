#pragma once
// Copies host values to a device without waiting for the device.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

namespace bertpretrain {

/// Returns a copy of `values` on `device` as bytes; view() it with the wanted dtype. A copy to CUDA goes through pinned memory
/// and is queued on the current stream; torch keeps the pinned memory until the copy is done. A copy from pageable memory would
/// block the host until all queued work is done.
template <class T>
at::Tensor copied_to(at::Device device, const std::vector<T>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    const at::Tensor here = at::from_blob(const_cast<T*>(values.data()), {bytes}, at::TensorOptions(at::kByte));  // only read
    return (device.is_cuda() ? here.pin_memory() : here).to(device, /*non_blocking=*/true, /*copy=*/true);
}

}  // namespace bertpretrain
