#include "kernels/open_cuda_module.h"

#include <dlfcn.h>

#include "core/concat.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

const CudaModule* open_module() {
    void* const module = ::dlopen(cuda_module_file, RTLD_NOW | RTLD_LOCAL);  // found by the program's own search path
    void* const symbol = module == nullptr ? nullptr : ::dlsym(module, cuda_module_symbol);
    const CudaModule* const found = symbol == nullptr ? nullptr : reinterpret_cast<GetCudaModule*>(symbol)();
    if (found == nullptr) {
        const char* const reason = symbol == nullptr ? ::dlerror() : "they need a GPU of compute capability 8.0 or above";
        log_warning(concat("without our CUDA kernels, the GPU uses plain ATen operations, which is slower: ", reason));
    }
    return found;
}

}  // namespace

const CudaModule* cuda_module() {
    static const CudaModule* const module = open_module();
    return module;
}

}  // namespace bertpretrain
