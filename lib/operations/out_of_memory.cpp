#include "operations/out_of_memory.h"

#include <string_view>

#include <c10/util/Exception.h>

namespace bertpretrain {
namespace {

/// cuBLAS also reports NOT_INITIALIZED when cublasCreate() has no memory for its context.
constexpr std::string_view allocation_failures[] = {"CUBLAS_STATUS_ALLOC_FAILED", "CUBLAS_STATUS_NOT_INITIALIZED",
                                                    "CUDNN_STATUS_ALLOC_FAILED", "cudaErrorMemoryAllocation"};

}  // namespace

bool means_out_of_memory(const std::exception& error) {
    if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
    const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
    const std::string_view text = of_torch != nullptr ? of_torch->what_without_backtrace() : error.what();
    const auto has = [&](std::string_view words) { return text.find(words) != text.npos; };
    for (const std::string_view failure : allocation_failures)
        if (has(failure)) return true;
    return has("CUDA") && has("out of memory");
}

}  // namespace bertpretrain
