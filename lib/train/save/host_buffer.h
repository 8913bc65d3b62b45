#pragma once
// Large reusable host buffers for copies of a device's memory.

#include <cstddef>
#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// Page-locks memory, so that a GPU copies into it at full speed.
struct PageLock {
    std::function<bool(void* begin, std::size_t bytes)> lock;  ///< returns false if refused
    std::function<void(void* begin)> unlock;                   ///< undoes a successful lock()
};

/// The functions of the CUDA runtime.
PageLock cuda_page_lock();

/// Returns zeros (fp32, on the CPU) in pages of their own, all of which have been touched. The size is rounded up to a page only;
/// torch's pinned allocator would round up to a power of two.
/// @param page_lock null: pages are not locked. If locking is refused, copies are slower and a warning is logged.
/// @throws std::bad_alloc when there is not enough memory
at::Tensor host_buffer(std::int64_t elements, const PageLock* page_lock = nullptr);

}  // namespace bertpretrain
