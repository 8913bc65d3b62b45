#pragma once
// Large buffers on the host into which a device's memory is copied again and again.

#include <cstddef>
#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// How pages are locked into memory, so that a GPU copies into them at full speed.
struct PageLock {
    std::function<bool(void* begin, std::size_t bytes)> lock;  ///< false: it was refused
    std::function<void(void* begin)> unlock;                   ///< of what was locked
};

/// CUDA's own.
PageLock cuda_page_lock();

/// Returns zeros: fp32, on the CPU, in pages of their own, all of which are touched. They take no more memory than the elements
/// do, up to a page: torch's pinned allocator would round up to a power of two.
/// @param page_lock null: the pages are not locked. Where locking is refused, copies are slower, and the log says so.
/// @throws std::bad_alloc when there is no memory
at::Tensor host_buffer(std::int64_t elements, const PageLock* page_lock = nullptr);

}  // namespace bertpretrain
