#include "train/save/host_buffer.h"

#include <algorithm>
#include <memory>
#include <new>

#include <sys/mman.h>

#include <ATen/ops/from_blob.h>

#include "core/concat.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "operations/cuda_runtime.h"

namespace bertpretrain {

PageLock cuda_page_lock() { return {lock_pages, unlock_pages}; }

at::Tensor host_buffer(std::int64_t elements, const PageLock* page_lock) {
    const std::size_t bytes = std::max<std::size_t>(1, static_cast<std::size_t>(elements) * sizeof(float));
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    ::madvise(pages, bytes, MADV_HUGEPAGE);                              // larger pages where available; failure is ignored
    const auto unlock = std::make_shared<std::function<void(void*)>>();  // empty: not locked
    const auto give_back = [bytes, unlock](void* begin) {
        if (*unlock) (*unlock)(begin);
        ::munmap(begin, bytes);
    };
    at::Tensor buffer = at::from_blob(pages, {elements}, give_back, at::kFloat);
    buffer.zero_();
    if (page_lock == nullptr) return buffer;
    if (page_lock->lock(pages, bytes)) *unlock = page_lock->unlock;
    else
        log_warning(concat("CUDA cannot page-lock ", bytes_text(bytes), " of host memory, so snapshots take longer",
                           "\n  do: raise the limit of locked memory (`ulimit -l`) or the container's memory limit"));
    return buffer;
}

}  // namespace bertpretrain
