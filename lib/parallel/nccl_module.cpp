#include "parallel/nccl_module.h"

#include <dlfcn.h>

#include "core/error.h"

namespace bertpretrain {

std::unique_ptr<World> make_nccl_world(const MeetingPlace& place, const NcclRank& rank) {
    void* const module = ::dlopen(nccl_module_file, RTLD_NOW | RTLD_LOCAL);  // found by the program's RUNPATH
    void* const symbol = module == nullptr ? nullptr : ::dlsym(module, nccl_module_symbol);
    if (symbol == nullptr)
        throw ConfigError(concat("several ranks with GPUs need ", nccl_module_file, " next to the program: ", ::dlerror(),
                                 "\n  do: build with a libtorch that supports CUDA, or set training.device to \"cpu\""));
    return std::unique_ptr<World>(reinterpret_cast<MakeNcclWorld*>(symbol)(place, rank));
}

}  // namespace bertpretrain
