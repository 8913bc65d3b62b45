#pragma once
// Values of the host on a device, without waiting for it.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

namespace bertpretrain {

/// A copy of `values` on `device`, as bytes; view() gives them their dtype. Towards CUDA they go through pinned memory, so that
/// the copy is queued behind the work that is under way; torch keeps that memory until the copy is done. From pageable memory
/// the host would wait for all that work.
template <class T>
at::Tensor copied_to(at::Device device, const std::vector<T>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    const at::Tensor here = at::from_blob(const_cast<T*>(values.data()), {bytes}, at::TensorOptions(at::kByte));  // only read
    return (device.is_cuda() ? here.pin_memory() : here).to(device, /*non_blocking=*/true, /*copy=*/true);
}

}  // namespace bertpretrain
