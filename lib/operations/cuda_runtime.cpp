#include "operations/cuda_runtime.h"

#include <dlfcn.h>

namespace bertpretrain {
namespace {

/// Returns a function of the runtime; null without CUDA. All return cudaError_t, where 0 means success.
template <class Function>
Function* runtime_function(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

bool lock_pages(void* begin, std::size_t bytes) {
    constexpr unsigned usual_flags = 0;  // cudaHostRegisterDefault
    const auto lock = runtime_function<int(void*, std::size_t, unsigned)>("cudaHostRegister");
    if (lock == nullptr) return false;
    const bool locked = lock(begin, bytes, usual_flags) == 0;
    if (!locked) forget_cuda_error();
    return locked;
}

void unlock_pages(void* begin) {
    const auto unlock = runtime_function<int(void*)>("cudaHostUnregister");
    if (unlock != nullptr && unlock(begin) != 0) forget_cuda_error();
}

void forget_cuda_error() {
    if (const auto forget = runtime_function<int()>("cudaGetLastError")) forget();
}

std::size_t free_gpu_memory() {
    std::size_t free = 0, total = 0;
    const auto info = runtime_function<int(std::size_t*, std::size_t*)>("cudaMemGetInfo");
    return info != nullptr && info(&free, &total) == 0 ? free : 0;
}

}  // namespace bertpretrain
